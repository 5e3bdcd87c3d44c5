
# Without -o, the tests would build zstd again. Upstream's `make test` takes 40 minutes; these are the short form and those of the command.
override_dh_auto_test-arch:
ifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))
	$(MAKE) -o zstd -C tests check test-cli-tests
endif
