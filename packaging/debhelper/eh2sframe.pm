# SPDX-License-Identifier: MIT
# debhelper sequence add-on: dh $@ --with eh2sframe, or Build-Depends: dh-sequence-eh2sframe.

use strict;
use warnings;
use Debian::Debhelper::Dh_Lib;

# After dh_strip, whose debug packages match what they were made from by build-id and contents of
# .gnu_debuglink, both kept; before dh_md5sums.
insert_after('dh_strip', 'dh_eh2sframe');

1;
