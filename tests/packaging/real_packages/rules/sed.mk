
# Without the tests of gnulib, which are of other programs.
override_dh_auto_test:
ifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))
	dh_auto_test -- SUBDIRS=.
endif
