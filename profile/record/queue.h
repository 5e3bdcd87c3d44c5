/* SPDX-License-Identifier: MIT */
/* Records between the thread that empties the kernel's rings and the one that walks stacks. */
#ifndef PROFILE_RECORD_QUEUE_H
#define PROFILE_RECORD_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct queue {
	uint8_t *memory;
	size_t put, got;    /* where the next record will be, and where the oldest is */
	size_t n;	    /* records */
	atomic_bool closed; /* read without the lock, too */
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

/* It lasts as long as the program. */
ATTR_MUST_CHECK bool queue_begin(struct queue *queue, struct err *err);

/* Room for a record of at most size bytes, which are at most EVENT_MAX_SIZE, or NULL. wait: until there is some; NULL then means
 * that the other end has closed it. */
uint8_t *queue_room(struct queue *queue, size_t size, bool wait);
/* The record has size bytes, at most those asked for. */
void queue_put(struct queue *queue, size_t size);
/* There will be no more. Either end may call it. */
void queue_close(struct queue *queue);

/* The next record, which stays until queue_done; NULL after the last one. */
const uint8_t *queue_get(struct queue *queue, size_t *size);
void queue_done(struct queue *queue, size_t size);

#endif
