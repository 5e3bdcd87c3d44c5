#!/bin/bash
# SPDX-License-Identifier: MIT
# The processor against rows that no CFI says: libraries converted with --code=repair --derive encode
# and decode video, compute with large numbers and encrypt; programs compile, interpret and store. The
# first calls of each function with such rows are stepped. Prints TAP, with the counts of each module.
#
#   step_code.sh EH2SFRAME STEP FETCH CACHE
#
# FETCH is machines_fetch.sh, which keeps packages in CACHE. STEP_CODE_VISITS multiplies the calls that are
# stepped (1). STEP_CODE_STEPS is how many steps of each of the other programs are compared (2,000,000).
eh2sframe=$(realpath "$1")
step=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
fetch=$(realpath "$3")
mkdir -p "$4"
cache=$(realpath "$4")
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$here/../shared/tap.sh"

"$eh2sframe" --version | grep -q 'with Zydis' || skip_all 'this build cannot decode x86-64 code'
"$step" --steps=10 /bin/true >/dev/null 2>&1 || skip_all 'single-stepping is not possible here'
reason=$("$fetch" amd64 step "$cache")
case $? in
0) ;;
77) skip_all "$reason" ;;
*) echo "Bail out! $reason" && exit 1 ;;
esac
root=$cache/amd64
libs=$root/usr/lib/x86_64-linux-gnu

# All libraries of the packages but those of libc, which must fit the machine's loader.
mkdir plain v2 v3
shopt -s extglob
for folder in "$libs" "$libs/pulseaudio" "$libs/blas" "$libs/lapack"; do
	for file in "$folder"/*.so*; do
		[ ! -e "$file" ] || ln -sf "$file" "plain/${file##*/}"
	done
done
for file in "$root"/lib/x86_64-linux-gnu/*.so*; do
	case ${file##*/} in
	ld-* | libc.* | libc-* | libm.* | libm-* | libmvec* | libpthread* | librt* | libdl* | libresolv* | libnss_* | \
		libutil.so* | libanl* | libnsl* | libBrokenLocale* | libthread_db* | libSegFault* | libmemusage* | \
		libpcprofile* | libc_malloc*) ;;
	*) [ ! -e "$file" ] || ln -sf "$file" "plain/${file##*/}" ;;
	esac
done

convert() { # FOLDER VERSION FILE...
	folder=$1 version=$2
	shift 2
	for file; do
		name=${file##*/}
		is "$name, version $version: conversion" "$eh2sframe" -q --code=repair --derive --format="$version" \
			--report-file="$folder/$name.json" "$(realpath "$file")" "$folder/$name" || continue
	done
}

total=0
# Steps the first VISITS calls of each function that has marked rows; 0: all that runs, up to a number.
stepped() { # NAME FOLDER VISITS MIN-MARKED MIN-DISTINCT PROGRAM ARG...
	name=$1 folder=$2 visits=$(($3 * ${STEP_CODE_VISITS:-1})) least=$4 distinct=$5
	shift 5
	# 0 visits: every step is compared, up to a number.
	how="--visits=$visits --steps=20000000"
	[ "$visits" != 0 ] || how="--steps=$all --min=$((all / 8))"
	# shellcheck disable=SC2086 # options in words
	"$step" --marks="$scratch/$folder" $how --min-marked="$least" \
		--min-distinct="$distinct" --env="LD_LIBRARY_PATH=$scratch/$folder:$scratch/plain" "$@" >out 2>errors
	status=$?
	if [ $status = 0 ]; then ok "$name"; else not_ok "$name"; fi
	grep -v ': 0 steps' out | sed 's/^/# /'
	[ $status = 0 ] || tail -n 5 errors | sed 's/^/# /'
	total=$((total + $(sed -n 's/^all:.*, \([0-9]*\) in marked rows.*/\1/p' out)))
}

# A driver of this folder, with the headers of the packages.
driver() { # NAME LIBRARY...
	name=$1
	shift
	gcc -O1 -I"$root/usr/include" -I"$root/usr/include/x86_64-linux-gnu" "$here/$name.c" -o "plain-$name" \
		-L"$libs" "$@" && "$eh2sframe" -q "plain-$name" "v2/$name" && cp "v2/$name" v3/
}

# Frames with noise, which no encoder skips.
frames() { # BITS FILE
	python3 - "$1" "$2" <<-'PYTHON'
		import random
		import sys

		bits, path = int(sys.argv[1]), sys.argv[2]
		random.seed(17)
		wide, high = 160, 96
		with open(path, "wb") as out:
		    kind = b"C420jpeg" if bits == 8 else b"C420p10 XYSCSS=420P10"
		    out.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 %s\n" % (wide, high, kind))
		    for t in range(6):
		        out.write(b"FRAME\n")
		        for w, h in ((wide, high), (wide // 2, high // 2), (wide // 2, high // 2)):
		            for i in range(w * h):
		                x, y = i % w, i // w
		                value = ((x + 3 * t) * (y + t) // 7 + random.randrange(24)) & 255
		                out.write(bytes([value]) if bits == 8 else (value << 2).to_bytes(2, "little"))
	PYTHON
}

# ---- video ----

x265() { # FOLDER VISITS
	for asm in sse4.1 avx2 avx512; do
		stepped "x265 --asm $asm, $1" "$1" "$2" 200000 35000 "$1/x265" --input in8.y4m --frames 3 --pools none \
			--frame-threads 1 --asm $asm -o out.hevc
	done
}

x264() {
	for asm in sse2 ssse3 avx2 avx512; do
		stepped "x264 --asm $asm" v2 8 150000 6500 v2/x264 --threads 1 --asm $asm --preset veryslow --me tesa --nr 200 \
			--output-csp i422 -o out.264 in8.y4m
	done
	stepped 'x264, 10 bits' v2 8 150000 6000 v2/x264 --threads 1 --output-depth 10 --preset slow -o out10.264 in10.y4m
}

dav1d() { # FOLDER
	for mask in ssse3 avx2 avx512icl; do
		stepped "dav1d --cpumask $mask, $1" "$1" 10 25000 5500 "$1/dav1d" --threads 1 --cpumask $mask -i in8.ivf -o out.y4m
		stepped "dav1d --cpumask $mask, 10 bits, $1" "$1" 10 20000 2500 "$1/dav1d" --threads 1 --cpumask $mask -i in10.ivf \
			-o out.y4m
	done
}

vpx() {
	for codec in vp8 vp9; do
		stepped "vpxenc $codec" v2 10 15000 2500 v2/vpxenc --codec=$codec --threads=1 --limit=6 --cpu-used=2 \
			--target-bitrate=20 --ivf -o $codec.ivf in8.y4m
		stepped "vpxdec $codec" v2 10 5000 800 v2/vpxdec --threads=1 -o out.y4m $codec.ivf
	done
}

# libavcodec, libavutil, libswscale and libavfilter, with the instructions of three kinds of processor.
ffmpeg() {
	old=mmx+mmxext+sse+sse2
	# Some codecs of sound have no code without CFI, these filters have.
	sound=aformat=s16,volume=0.7:precision=fixed,aformat=flt,anlmdn
	for flags in "-cpuflags $old" "-cpuflags $old+sse3+ssse3+sse4.1+sse4.2" ''; do
		# shellcheck disable=SC2086 # options in words
		for codec in mpeg4 mpeg2video mjpeg ffv1 huffyuv utvideo prores_ks snow libx264; do
			stepped "ffmpeg $flags, $codec" v2 4 300 250 v2/ffmpeg -v error -nostdin $flags -y -i in8.y4m \
				-vf scale=90:70,hue=h=30 -c:v $codec -threads 1 -f nut $codec.nut
			stepped "ffmpeg $flags, from $codec" v2 4 300 250 v2/ffmpeg -v error -nostdin $flags -threads 1 -i $codec.nut \
				-vf scale=90:70,hue=h=30,yadif -threads 1 -f null -
		done
		# shellcheck disable=SC2086 # options in words
		for codec in aac ac3 mp2 flac; do
			stepped "ffmpeg $flags, $codec" v2 4 300 100 v2/ffmpeg -v error -nostdin $flags -y -f lavfi -i sine=440:d=0.3 \
				-af $sound -c:a $codec -ac 2 -f nut $codec.nut
			stepped "ffmpeg $flags, from $codec" v2 4 300 100 v2/ffmpeg -v error -nostdin $flags -i $codec.nut \
				-af $sound -f null -
		done
		# shellcheck disable=SC2086 # options in words
		for file in out.hevc out10.264 vp8.ivf vp9.ivf; do
			stepped "ffmpeg $flags, from $file" v2 8 3000 300 v2/ffmpeg -v error -nostdin $flags -threads 1 -i $file \
				-threads 1 -f null -
		done
	done
}

frames 8 in8.y4m
frames 10 in10.y4m
for bits in 8 10; do
	LD_LIBRARY_PATH=plain "$root/usr/bin/aomenc" --cpu-used=3 --limit=6 --bit-depth=$bits --film-grain-test=5 \
		--superres-mode=1 --superres-denominator=12 --superres-kf-denominator=12 --ivf -o in$bits.ivf in$bits.y4m >out 2>&1 || not_ok "aomenc, $bits bits" "$(tail -n 3 out)"
done
convert v2 2 "$root"/usr/bin/{x265,x264,dav1d,vpxenc,vpxdec,ffmpeg} \
	"$libs"/lib{x265,x264,dav1d,vpx,avcodec,avutil,swscale,avfilter,gmp,nettle,hogweed,crypto}.so.+([0-9])
convert v3 3 "$root"/usr/bin/{x265,dav1d} "$libs"/lib{x265,dav1d,gmp,nettle,hogweed}.so.+([0-9])
echo "# $(date +%T)"
x265 v2 8
x265 v3 2
x264
dav1d v2
dav1d v3
vpx
ffmpeg
echo "# $(date +%T)"

# ---- numbers ----

is 'step_numbers is built' driver step_numbers -lgmp
is 'step_ciphers is built' driver step_ciphers -lhogweed -lnettle -lgmp
stepped 'gmp' v2 300 2000000 2800 v2/step_numbers
stepped 'gmp, version 3' v3 50 300000 2400 v3/step_numbers
stepped 'nettle' v2 20 800000 5500 v2/step_ciphers
stepped 'nettle, version 3' v3 5 100000 5000 v3/step_ciphers
echo "# $(date +%T)"

# ---- compilers, interpreters, a database: few marked rows, so that every step is compared ----

cat >p.c <<-'CODE'
	struct s { int a; double b; char c[40]; };
	double f(struct s *p, int n) {
	    double r = 0;
	    for (int i = 0; i < n; i++)
	        switch (p[i].a & 15) {
	        case 0: r += p[i].b; break;
	        case 3: r *= 2; break;
	        case 7: r -= p[i].c[3]; break;
	        default: r += i / 3;
	        }
	    return r;
	}
	int g(int x) { return x < 2 ? x : g(x - 1) + g(x - 2); }
CODE
cat >p.ml <<-'CODE'
	let rec f x = if x < 2 then x else f (x - 1) + f (x - 2)
	let () = try Printf.printf "%d\n" (f (Array.length Sys.argv)) with Not_found -> ()
CODE
sql='create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 500) insert into t select x, hex(x * x) from c;
select count(*), max(b) from t group by a % 7;'
llc=$(echo "$root"/usr/lib/llvm-*/bin/llc)
llvm=${llc%/bin/llc} llvm=${llvm##*-}
convert v2 2 "$root"/usr/lib/gcc/x86_64-linux-gnu/*/cc1plus "$root"/usr/bin/{python3.+([0-9]),openssl,sqlite3,ocamlopt.opt,rg} \
	"$llc" "$libs"/libsqlite3.so.0 "$libs"/@(libLLVM-"$llvm".so.1|libLLVM.so."$llvm".1)
all=${STEP_CODE_STEPS:-2000000}
python=$(cd v2 && echo python3.+([0-9]))
stepped 'cc1plus' v2 0 0 0 v2/cc1plus -quiet -O2 p.c -o p.s
stepped 'python' v2 0 0 0 "v2/$python" -c 'import json; print(json.dumps({"a": [1, 2, {"b": 3}]}))'
stepped 'sqlite3' v2 0 0 0 v2/sqlite3 :memory: "$sql"
stepped 'openssl' v2 0 0 0 v2/openssl ecparam -name prime256v1 -genkey -noout -out p.pem
stepped 'openssl, marked rows' v2 50 100 30 v2/openssl genrsa -out p.pem 2048
stepped 'ocamlopt' v2 0 0 0 --env=OCAMLLIB="$root/usr/lib/ocaml" v2/ocamlopt.opt -S -c p.ml
stepped 'rg' v2 0 0 0 v2/rg -n '(static|struct)+[a-z]{2,}' p.c
clang -O2 -S -emit-llvm p.c -o p.ll
# LLVM's own code: rows of epilogues are repaired.
stepped 'llc, marked rows' v2 50 200 40 v2/llc -O2 p.ll -o p.s
echo "# $(date +%T)"
echo "# $total steps in marked rows"
plan
