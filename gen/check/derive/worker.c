/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "gen/check/derive/function.h"

bool derive_worker_init(struct derive_worker *worker)
{
	worker->paths = code_paths_new();
	return worker->paths;
}

void derive_worker_deinit(struct derive_worker *worker)
{
	code_paths_free(worker->paths);
	free(worker->code);
	free(worker->entries);
	free(worker->links.list);
	derive_starts_deinit(&worker->starts);
	derive_starts_deinit(&worker->dropped);
	free(worker->calls);
	validate_refs_deinit(&worker->found);
	free(worker->askers);
	free(worker->fp_needed);
	derived_deinit(&worker->rows);
	derived_deinit(&worker->seen);
	derived_deinit(&worker->good);
	free(worker->good_entries);
}
