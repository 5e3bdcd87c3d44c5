# SPDX-License-Identifier: MIT
# Sourced by cli.sh: a tree that is reported, or converted for a try. Nothing below it changes.
# shellcheck shell=bash disable=SC2154 # the variables are the caller's

mkdir -p tree/sub
cp good tree/good
cp prog2 tree/sub/prog2
cp conv tree/conv
ln tree/good tree/sub/same
echo text >tree/text
gcc -c -o tree/sub/prog.o prog.c
# All of it: contents, modes, owners, times.
tree_picture() { tar -c --sort=name tree; }
tree_picture >.tree
unchanged() { tree_picture | cmp - .tree; }
files='tree/conv tree/good tree/sub/prog2'

### tree report
status_is 'tree report' 0 tree report tree
is 'changes nothing' unchanged
cp .stdout of-tree
# shellcheck disable=SC2086 # words
"$eh2sframe" report $files >of-files
is 'prints the lines of report' diff of-files <(sed 's/, 1 passed over$//' of-tree)
status_is 'tree report -o' 0 tree report -o of-tree2 tree
is 'writes there' cmp of-tree of-tree2
is 'and nothing else' test ! -s .stdout
for option in --functions -v; do
	status_is "tree report $option" 0 tree report --sandbox=off $option tree
	# shellcheck disable=SC2086 # words
	"$eh2sframe" report $option $files >of-files
	is 'prints what report prints, and sums' diff of-files <(sed -e '/^tree\/sub\/prog.o: skipped: relocatable$/d' -e '/^3 reported, 1 skipped (relocatable 1), 0 failed, 1 not ELF; /d' .stdout)
	is 'the sums are there' grep -q '^3 reported, ' .stdout
done
status_is 'tree report --json' 0 tree report --json -o of-tree.json tree
# shellcheck disable=SC2086 # words
"$eh2sframe" report --json $files >of-files.json
python3 - of-tree.json of-files.json >differs 2>&1 <<'P'
import json, sys
tree, files = (json.load(open(path)) for path in sys.argv[1:])
skipped = [file for file in tree["files"] if file["status"] == 6]
assert [file["path"] for file in skipped] == ["tree/sub/prog.o"], skipped
of_tree = [file for file in tree["files"] if file["status"] != 6]
assert of_tree[1].pop("links") == ["tree/sub/same"]
assert of_tree == files["files"]
assert tree["summary"]["done"] == 3 and tree["summary"]["not_elf"] == 1, tree["summary"]
P
is 'has the objects of report, and the sums' diff /dev/null differs
"$eh2sframe" merge --html of-tree.json >of-merge.html
status_is 'tree report --html' 0 tree report --html tree
is 'makes the page that merge makes' cmp of-merge.html .stdout
status_is 'tree report --min-coverage' 5 tree report --min-coverage=100 --min-coverage-of=text --json -o of-tree.json tree
is 'one line for each file' test "$(grep -c 'min-coverage demands' .stderr)" = 3
is 'which are in the report all the same' test "$(grep -c '"path":.*"status":5,.*"code":' of-tree.json)" = 3
status_is 'tree report --baseline' 0 tree report --baseline=of-files.json tree
status_is 'tree report of nothing' 6 tree report tree/text
is 'says so' one_line 'eh2sframe: no file has CFI to look at'
is 'nothing has changed' unchanged

### tree convert --dry-run
status_is 'tree convert --dry-run' 0 tree convert --dry-run tree
is 'changes nothing' unchanged
is 'says so' grep -q '^2 would be converted, 2 skipped (has-sframe 1, relocatable 1), 0 failed, 1 not ELF; ' .stdout
status_is 'tree convert --dry-run -v' 0 tree convert --dry-run -v tree
is 'says so of each file' test "$(grep -c 'sframe v2 .* refused, not written$' .stdout)" = 2
status_is 'tree convert --dry-run --max-growth' 5 tree convert --dry-run --max-growth=0 tree
is 'judges' test "$(grep -c 'max-growth allows' .stderr)" = 2
status_is 'tree convert --dry-run --report-file' 0 tree convert --dry-run --report-file=try.json tree
mkdir apart && cp -a tree apart/
(cd apart && "$eh2sframe" tree convert -q --report-file=../done.json tree)
is 'reports what a conversion reports' cmp try.json done.json
is 'which it was not' unchanged
is 'counts as converted already what an earlier run did' \
	grep -q '^2 would be converted, 1 converted already, 1 skipped (relocatable 1), 0 failed, 1 not ELF; ' .stdout
ln tree/sub/prog2 beyond
status_is 'tree convert --dry-run of a file with another name' 1 tree convert --dry-run tree
is 'is the failure that it would be' grep -q 'tree/sub/prog2: has 2 hard links, of which 1 is below the named paths' .stderr
rm -rf tree apart beyond of-* try.json done.json differs .tree
