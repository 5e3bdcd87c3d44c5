/* SPDX-License-Identifier: MIT */
#include "profile/load.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "profile/stacks/load.h"

static bool load_event(void *context, const struct event *event, struct err *err)
{
	struct load *load = context;

	if (event->kind != EVENT_SAMPLE)
		return unwinder_take(&load->unwinder, event, err);
	return load_sample(load, event, err);
}

/* By the words of uname -m; 0: another machine. */
static uint32_t load_machine(const char *name)
{
	static const char *const NAMES[] = {
	    [PROFILE_X86_64] = "x86_64",
	    [PROFILE_AARCH64] = "aarch64",
	    [PROFILE_S390X] = "s390x",
	};

	for (uint32_t i = 1; i < sizeof(NAMES) / sizeof(*NAMES); i++)
		if (strcmp(NAMES[i], name) == 0)
			return i;
	return *name ? 0 : unwinder_machine();
}

/* The event's name, and whether its periods are times. */
static bool load_event_name(
    struct profile_info *info, const struct perfdata *perfdata, struct err *err)
{
	const struct perf_event_attr *attr = &perfdata->attrs[perfdata->first].attr;
	const char *name = *perfdata->event ? perfdata->event : "event";
	bool clock = attr->type == PERF_TYPE_SOFTWARE &&
		     (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
			 attr->config == PERF_COUNT_SW_TASK_CLOCK);

	info->frequency = attr->freq && attr->sample_freq <= UINT32_MAX
			      ? (uint32_t)attr->sample_freq
			      : 0;
	return profile_set_text(&info->event, name, err) &&
	       profile_set_text(&info->unit, clock ? "ns" : name, err);
}

static bool load_info(struct load *load, struct err *err)
{
	struct profile_info *info = &load->profile->info;
	const struct perfdata *perfdata = &load->perfdata;

	info->start = perfdata->modified;
	info->machine = load_machine(perfdata->machine);
	if (!info->machine)
		return err_set(err, ERR_UNSUPPORTED,
		    "stacks of the machine %.64s cannot be walked", perfdata->machine);
	return profile_set_text(&info->command, perfdata->command, err) &&
	       profile_set_text(&info->host, perfdata->host, err) &&
	       profile_set_text(&info->release, perfdata->release, err) &&
	       load_event_name(info, perfdata, err);
}

/* The vDSO is the one of this system where it is the system that was recorded. */
static void load_vdso(struct load *load)
{
	const struct perfdata *perfdata = &load->perfdata;
	struct utsname name;

	if (uname(&name) == 0 && strcmp(name.release, perfdata->release) == 0 &&
	    strcmp(name.nodename, perfdata->host) == 0)
		unwinder_vdso(&load->unwinder);
}

/* True if the recording has copies of stacks. */
static bool load_has_copies(const struct perfdata *perfdata)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (perfdata->attrs[perfdata->first].layout.sample_type & both) == both;
}

static bool load_all(struct load *load, int fd,
    const struct profile_load_options *options, struct err *err)
{
	struct profile_info *info = &load->profile->info;

	if (!perfdata_open(&load->perfdata, fd, err) || !load_info(load, err) ||
	    !unwinder_begin(&load->unwinder, info->machine, err))
		return false;
	load->unwinder.live = false;
	load->unwinder.no_rows = !load_has_copies(&load->perfdata);
	load->unwinder.guess = !(options && options->no_guess);
	load_vdso(load);
	if (!perfdata_each(&load->perfdata, load_event, load, err))
		return false;
	info->lost = load->unwinder.n_lost;
	info->n_others = load->perfdata.n_others;
	info->cut_off = load->perfdata.cut_off;
	return true;
}

bool profile_load(struct profile *profile, int fd, const char *name,
    const struct profile_load_options *options, struct err *err)
{
	struct load *load = calloc(1, sizeof(*load));
	bool ok;

	if (!load)
		return err_set_nomem(err);
	load->profile = profile;
	ok = load_all(load, fd, options, err);
	unwinder_free(&load->unwinder);
	perfdata_free(&load->perfdata);
	free(load);
	return ok || (name && err_prefix(err, "%s", name));
}
