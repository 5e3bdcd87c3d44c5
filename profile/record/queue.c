/* SPDX-License-Identifier: MIT */
/*
 * A ring of bytes. A record is its size, as 8 bytes, and its bytes up to a multiple of 8. It never
 * goes over the end: QUEUE_WRAP in place of a size says that the next one is at the start.
 */
#include "profile/record/queue.h"

#include <string.h>
#include <sys/mman.h>

#define QUEUE_WRAP UINT64_MAX

bool queue_begin(struct queue *queue, size_t size, struct err *err)
{
	/* Pages that no record ever needs take no memory. */
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return err_set_nomem(err);
	/* A process that reads a file apart needs none of it, and one that cannot be ended would keep it. */
	madvise(memory, size, MADV_DONTFORK);
	*queue = (struct queue){.memory = memory, .size = size};
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	return true;
}

void queue_free(struct queue *queue)
{
	if (!queue->memory)
		return;
	munmap(queue->memory, queue->size);
	pthread_mutex_destroy(&queue->lock);
	pthread_cond_destroy(&queue->changed);
	queue->memory = NULL;
}

static uint64_t queue_space(size_t size)
{
	return 8 + (((uint64_t)size + 7) & ~UINT64_C(7));
}

/* The bytes from the place at of the ring to its end. */
static uint64_t queue_left(const struct queue *queue, uint64_t at)
{
	return queue->size - at % queue->size;
}

uint8_t *queue_room(struct queue *queue, size_t size, bool wait)
{
	uint64_t need = queue_space(size), left;
	uint8_t *room = NULL;

	pthread_mutex_lock(&queue->lock);
	/* An empty ring begins again at its start, whose pages are there already. */
	if (queue->got == queue->put)
		queue->got = queue->put = 0;
	left = queue_left(queue, queue->put);
	while (!queue->closed) {
		uint64_t taken = queue->put - queue->got;
		uint64_t total = left < need ? left + need : need;

		if (taken + total <= queue->size) {
			if (left < need) {
				memcpy(queue->memory + queue->put % queue->size,
				    &(uint64_t){QUEUE_WRAP}, 8);
				queue->put += left;
			}
			room = queue->memory + queue->put % queue->size + 8;
			break;
		}
		if (!wait)
			break;
		pthread_cond_wait(&queue->changed, &queue->lock);
	}
	pthread_mutex_unlock(&queue->lock);
	return room;
}

void queue_put(struct queue *queue, size_t size)
{
	uint64_t stored = size;

	pthread_mutex_lock(&queue->lock);
	memcpy(queue->memory + queue->put % queue->size, &stored, sizeof(stored));
	queue->put += queue_space(size);
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

bool queue_is_closed(struct queue *queue)
{
	bool closed;

	pthread_mutex_lock(&queue->lock);
	closed = queue->closed;
	pthread_mutex_unlock(&queue->lock);
	return closed;
}

const uint8_t *queue_get(struct queue *queue, size_t *size)
{
	const uint8_t *record = NULL;
	uint64_t stored = QUEUE_WRAP;

	pthread_mutex_lock(&queue->lock);
	for (;;) {
		while (queue->got == queue->put && !queue->closed)
			pthread_cond_wait(&queue->changed, &queue->lock);
		if (queue->got == queue->put)
			break;
		memcpy(&stored, queue->memory + queue->got % queue->size, sizeof(stored));
		if (stored != QUEUE_WRAP) {
			record = queue->memory + queue->got % queue->size + 8;
			break;
		}
		queue->got += queue_left(queue, queue->got);
	}
	pthread_mutex_unlock(&queue->lock);
	*size = record ? stored : 0;
	return record;
}

void queue_done(struct queue *queue)
{
	uint64_t stored;

	pthread_mutex_lock(&queue->lock);
	memcpy(&stored, queue->memory + queue->got % queue->size, sizeof(stored));
	queue->got += queue_space(stored);
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}
