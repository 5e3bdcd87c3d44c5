
# Debian runs no tests of it. These are upstream's of the program.
execute_after_dh_auto_build:
	$(MAKE) -C tests datagen
override_dh_auto_test:
ifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))
	PATH="$(CURDIR)/obj-$(DEB_HOST_GNU_TYPE):$(CURDIR)/tests:$$PATH"; export PATH; cd tests; \
	for name in basic multiple frame-concatenation testmode contentSize dict skippable opt-parser; do \
		./test-lz4-$$name.sh >log 2>&1 || { cat log; exit 1; }; echo "PASS: $$name"; done
endif
