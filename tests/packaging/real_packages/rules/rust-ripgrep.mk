
# Debian only compiles the tests. cargo would build them again, because its build script counts files in debian/. The program itself
# has two names.
override_dh_auto_build:
	dh_auto_build
	dh_auto_test -- test --no-run

override_dh_auto_test:
ifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))
	find target/*/debug/deps -type f -executable -links 1 ! -name '*.so' -print0 | xargs -0 -n 1 env
endif
