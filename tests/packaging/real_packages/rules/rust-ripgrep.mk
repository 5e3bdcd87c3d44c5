
# cargo builds the programs that it runs.
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER = dh_eh2sframe_tree_run
