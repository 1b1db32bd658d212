#!/bin/sh
# Installs Adumbra for hosts in C and C++: headers, the static and the shared library, and the files
# by which pkg-config and CMake find them.
#
#     capi/install.sh --prefix DIR [--libdir DIR] [--target TRIPLE] [--from DIR] [--strip]
#
# --prefix DIR      where it goes; /usr/local by default. Blanks may be in it.
# --libdir DIR      where libraries go: a folder below the prefix, `lib` by default.
# --target TRIPLE   another target than this machine's, as cargo names it.
# --from DIR        takes the libraries from there in place of building them.
# --strip           takes symbols for debuggers out of the libraries.
#
# With DESTDIR in the environment all goes below that folder, and the files name the prefix alone,
# as packages need it.
set -eu

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    exit 2
}

prefix=/usr/local libdir=lib target= from= strip=
while [ $# -gt 0 ]; do
    case $1 in
    --strip) strip=yes ;;
    --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --prefix | --libdir | --target | --from)
        [ $# -gt 1 ] || fail "$1 needs a value"
        case $1 in
        --prefix) prefix=$2 ;;
        --libdir) libdir=$2 ;;
        --target) target=$2 ;;
        --from) from=$2 ;;
        esac
        shift
        ;;
    *) fail "there is no option $1" ;;
    esac
    shift
done
capi=$(cd "$(dirname "$0")" && pwd)
case $prefix in
/* | [A-Za-z]:[/\\]*) ;;
*) fail "the prefix has to be an absolute path, and $prefix is none" ;;
esac
prefix=${prefix%/}
# What would end a string, begin a variable, or mean something to sed, in one of the files.
case $prefix$libdir in
*[\"\$\\\|\&\;#]* | *'
'*) fail "the prefix and the libdir cannot have any of \" \$ \\ | & ; # or a line's end in them" ;;
esac
case $libdir in
/* | *..* | '') fail "the libdir has to be a folder below the prefix" ;;
esac

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version *= *"\(.*\)"/\1/p' "$capi/../Cargo.toml")
[ -n "$version" ] || fail "Cargo.toml does not say the version"
host=$(rustc -vV | sed -n 's/^host: //p')
triple=${target:-$host}

# What the static library needs of each system: `rustc --print native-static-libs` says it.
case $triple in
*-windows-msvc)
    static=adumbra_capi.lib shared=adumbra_capi.dll import=adumbra_capi.dll.lib
    system='kernel32 ntdll userenv ws2_32 dbghelp'
    ;;
*-windows-gnu*)
    static=libadumbra_capi.a shared=adumbra_capi.dll import=libadumbra_capi.dll.a
    system='kernel32 ntdll userenv ws2_32 dbghelp'
    ;;
*-apple-*)
    static=libadumbra_capi.a shared=libadumbra_capi.dylib import=
    system='iconv System c m'
    ;;
*-linux-musl*)
    static=libadumbra_capi.a shared=libadumbra_capi.so import=
    system='gcc_s c'
    ;;
*)
    static=libadumbra_capi.a shared=libadumbra_capi.so import=
    system='gcc_s util rt pthread m dl c'
    ;;
esac

if [ -z "$from" ]; then
    cargo=${CARGO:-cargo}
    (cd "$capi" && "$cargo" build --release --locked -p adumbra-capi ${target:+--target "$target"})
    from=${CARGO_TARGET_DIR:-$capi/../target}/${target:+$target/}release
fi

[ -f "$from/$static" ] || [ -f "$from/$shared" ] || fail "there is neither $static nor $shared in $from"
root=${DESTDIR:-}$prefix
lib=$root/$libdir
mkdir -p "$root/include/adumbra" "$lib/pkgconfig" "$lib/cmake/adumbra"
install_file() {
    cp "$1" "$2/" || fail "$1 cannot be copied to $2"
    chmod "$3" "$2/$(basename "$1")"
}
for header in "$capi/include/adumbra.h" "$capi/include/adumbra.hpp"; do
    install_file "$header" "$root/include" 644
done
for header in "$capi"/include/adumbra/*.hpp; do
    install_file "$header" "$root/include/adumbra" 644
done

if [ -f "$from/$static" ]; then
    install_file "$from/$static" "$lib" 644
    [ -z "$strip" ] || strip --strip-debug "$lib/$static"
fi
if [ -f "$from/$shared" ]; then
    # Windows looks for libraries beside programs.
    shared_folder=$lib
    if [ -n "$import" ]; then
        shared_folder=$root/bin
        mkdir -p "$shared_folder"
        install_file "$from/$import" "$lib" 644
    fi
    install_file "$from/$shared" "$shared_folder" 755
    case $triple in
    *-apple-*) [ -z "$strip" ] || strip -x "$shared_folder/$shared" ;;
    *) [ -z "$strip" ] || strip --strip-unneeded "$shared_folder/$shared" ;;
    esac
fi

# Folders of the libdir, so that the CMake files find the prefix from where they are.
up=../..
rest=$libdir
while [ "$rest" != "${rest%/*}" ]; do
    rest=${rest%/*} up=$up/..
done
write_file() {
    sed -e "s|@PREFIX@|$prefix|g" -e "s|@LIBDIR@|$libdir|g" -e "s|@VERSION@|$version|g" -e "s|@UP@|$up/..|g" \
        -e "s|@STATIC@|$static|g" -e "s|@SHARED@|$shared|g" -e "s|@IMPORT@|$import|g" \
        -e "s|@SYSTEM@|$(echo "$system" | tr ' ' ';')|g" -e "s|@SYSTEM_FLAGS@|-l$(echo "$system" | sed 's/ / -l/g')|g" \
        "$capi/install.d/$1.in" >"$2/$1"
    chmod 644 "$2/$1"
}
write_file adumbra.pc "$lib/pkgconfig"
write_file adumbra-static.pc "$lib/pkgconfig"
write_file adumbraConfig.cmake "$lib/cmake/adumbra"
write_file adumbraConfigVersion.cmake "$lib/cmake/adumbra"
printf 'Adumbra %s is in %s\n' "$version" "$root"
