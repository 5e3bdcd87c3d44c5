/* SPDX-License-Identifier: MIT */
/*
 * A ring of bytes. A record is its size, as 8 bytes, and its bytes up to a multiple of 8. Each begins in front of QUEUE_END, where a whole
 * record has room behind it, so none is in two parts.
 */
#include "profile/record/queue.h"

#include <string.h>
#include <sys/mman.h>

#include "profile/perfdata/event.h"

/* Room for the samples that come while a large file is converted. */
enum { QUEUE_SIZE = 128 << 20, QUEUE_END = QUEUE_SIZE - EVENT_MAX_SIZE - 8 };

bool queue_begin(struct queue *queue, struct err *err)
{
	/* Pages that no record ever needs take no memory. */
	void *memory = mmap(NULL, QUEUE_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return err_set_nomem(err);
	/* A process that reads a file apart needs none of it, and one that cannot be ended would keep it. */
	madvise(memory, QUEUE_SIZE, MADV_DONTFORK);
	*queue = (struct queue){.memory = memory};
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	return true;
}

static size_t queue_space(size_t size)
{
	return 8 + ((size + 7) & ~(size_t)7);
}

/* The place behind a record. */
static size_t queue_behind(size_t at, size_t size)
{
	at += queue_space(size);
	return at < QUEUE_END ? at : 0;
}

static bool queue_has_room(const struct queue *queue, size_t size)
{
	return queue->n == 0 || queue->put > queue->got ||
	       queue->got - queue->put >= queue_space(size);
}

uint8_t *queue_room(struct queue *queue, size_t size, bool wait)
{
	uint8_t *room = NULL;

	pthread_mutex_lock(&queue->lock);
	/* An empty ring begins again at its start, whose pages are there already. */
	if (queue->n == 0)
		queue->got = queue->put = 0;
	while (wait && !queue->closed && !queue_has_room(queue, size))
		pthread_cond_wait(&queue->changed, &queue->lock);
	if (!queue->closed && queue_has_room(queue, size))
		room = queue->memory + queue->put + 8;
	pthread_mutex_unlock(&queue->lock);
	return room;
}

void queue_put(struct queue *queue, size_t size)
{
	pthread_mutex_lock(&queue->lock);
	memcpy(queue->memory + queue->put, &size, sizeof(size));
	queue->put = queue_behind(queue->put, size);
	queue->n++;
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

const uint8_t *queue_get(struct queue *queue, size_t *size)
{
	const uint8_t *record = NULL;

	pthread_mutex_lock(&queue->lock);
	while (queue->n == 0 && !queue->closed)
		pthread_cond_wait(&queue->changed, &queue->lock);
	if (queue->n) {
		memcpy(size, queue->memory + queue->got, sizeof(*size));
		record = queue->memory + queue->got + 8;
	}
	pthread_mutex_unlock(&queue->lock);
	return record;
}

void queue_done(struct queue *queue, size_t size)
{
	pthread_mutex_lock(&queue->lock);
	queue->got = queue_behind(queue->got, size);
	queue->n--;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}
