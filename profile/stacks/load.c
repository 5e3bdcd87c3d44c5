/* SPDX-License-Identifier: MIT */
#include "profile/load.h"

#include <stdlib.h>

#include "base/hash.h"
#include "profile/recording.h"
#include "profile/stacks/unwinder.h"

struct load {
	struct unwinder unwinder;
	const struct profile_load_options *options;
	bool begun;
	/* The frames of the kernel by their addresses; those of the profile below n_seen. */
	struct slots kernel;
	size_t n_kernel, n_seen;
};

/* The frame of the kernel at an address, or the free slot. */
static struct slot *load_slot(const struct load *load, uint64_t address)
{
	uint32_t hash = hash_fold(address);
	struct slot *slot = slots_first(&load->kernel, hash);

	while (slot->number &&
	       load->unwinder.profile->frames[slot->number - 1].address != address)
		slot = slots_next(&load->kernel, slot);
	return slot;
}

/* The recorder named the kernel's frames and their modules. What memory has no room for stays without. */
static void load_kernel(
    void *context, uint64_t address, const char **name, const char **module)
{
	struct load *load = context;
	const struct profile *profile = load->unwinder.profile;
	const struct profile_frame *frame;
	const struct slot *found;

	for (; load->n_seen < profile->n_frames; load->n_seen++) {
		struct slot *slot;

		frame = &profile->frames[load->n_seen];
		if (frame->kind != PROFILE_FRAME_KERNEL || !frame->name)
			continue;
		if (!slots_reserve(&load->kernel, load->n_kernel + 1))
			return;
		slot = load_slot(load, frame->address);
		if (slot->number)
			continue;
		*slot =
		    (struct slot){hash_fold(frame->address), (uint32_t)load->n_seen + 1};
		load->n_kernel++;
	}
	if (load->n_kernel == 0)
		return;
	found = load_slot(load, address);
	if (!found->number)
		return;
	frame = &profile->frames[found->number - 1];
	*name = frame->name;
	*module = profile->modules[frame->module].path;
}

static bool load_event(void *context, const uint8_t *bytes, size_t size, struct err *err)
{
	struct load *load = context;

	/* The machine is known now. */
	if (!load->begun) {
		if (unwinder_register_mask(
			(enum profile_machine)load->unwinder.profile->info.machine) == 0)
			return err_set(err, ERR_UNSUPPORTED,
			    "stacks of this machine cannot be walked");
		if (!unwinder_begin(&load->unwinder, load->unwinder.profile, err))
			return false;
		/* The numbers of processes may be of another machine: profile/symbols/ looks. */
		load->unwinder.jit = false;
		load->unwinder.kernel = load_kernel;
		load->unwinder.kernel_context = load;
		load->unwinder.guess = load->options && load->options->guess;
		load->begun = true;
	}
	return unwinder_event(&load->unwinder, bytes, size, err);
}

bool profile_load(struct profile *profile, int fd, const char *name,
    const struct profile_load_options *options, struct err *err)
{
	struct load load = {.unwinder.profile = profile, .options = options};
	bool ok = recording_read(profile, fd, name, load_event, &load, err) &&
		  unwinder_end(&load.unwinder, err);

	/* The end of a recording has the sum, and one that was cut off has no end. */
	if (profile->info.lost < load.unwinder.n_lost)
		profile->info.lost = load.unwinder.n_lost;
	unwinder_free(&load.unwinder);
	free(load.kernel.list);
	return ok;
}
