/* SPDX-License-Identifier: MIT */
#include "profile/profile_load.h"

#include "profile/recording.h"
#include "profile/stacks/unwinder.h"

struct load {
	struct unwinder unwinder;
	const struct profile_load_options *options;
	bool begun;
};

static bool load_event(void *context, const uint8_t *bytes, size_t size, struct err *err)
{
	struct load *load = context;

	/* The machine is known now. */
	if (!load->begun) {
		if (unwinder_register_mask(
			(enum profile_machine)load->unwinder.profile->info.machine) == 0)
			return err_set(err, ERR_UNSUPPORTED,
			    "stacks of this machine cannot be walked");
		if (!unwinder_begin(&load->unwinder, load->unwinder.profile,
			load->options ? load->options->cache_dir : NULL, err))
			return false;
		/* The numbers of processes may be of another machine: profile/symbols/ looks. */
		load->unwinder.jit = false;
		load->unwinder.guess = load->options && load->options->guess;
		load->begun = true;
	}
	return unwinder_event(&load->unwinder, bytes, size, err);
}

bool profile_load(struct profile *profile, int fd, const char *name,
    const struct profile_load_options *options, struct err *err)
{
	struct load load = {
	    .unwinder.profile = profile, .unwinder.rows.dir = -1, .options = options};
	bool ok = recording_read(profile, fd, name, load_event, &load, err) &&
		  unwinder_end(&load.unwinder, err);

	profile->info.lost += load.unwinder.n_lost;
	unwinder_free(&load.unwinder);
	return ok;
}
