
# `go test` builds the programs that it runs.
override_dh_auto_test:
	dh_auto_test -- -exec dh_eh2sframe_tree_run
