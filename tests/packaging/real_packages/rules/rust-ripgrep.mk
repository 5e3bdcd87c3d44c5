
# Debian only compiles the tests.
override_dh_auto_build:
	dh_auto_build
	dh_auto_test -- test --no-run

override_dh_auto_test:
	dh_auto_test -- test
