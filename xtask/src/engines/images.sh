# Makes the archives of the test images, in the folder that is the argument.
#
# busybox.tar  a static busybox, its programs as links, and little else
# bash.tar     the same with this machine's bash and the libraries it needs
# python.tar   the same with the system's Python and those of its modules that need no other library
# empty.tar    nothing: no shell, no program
set -eu
cd "$1"

busybox=$(command -v busybox)
if ldd "$busybox" >/dev/null 2>&1; then
    echo "$busybox is not static (Debian: busybox-static)" >&2
    exit 1
fi

mkdir -p empty busybox/bin busybox/etc busybox/proc busybox/sys busybox/dev busybox/tmp
chmod 1777 busybox/tmp
cp "$busybox" busybox/bin/busybox
for program in $("$busybox" --list); do
    test "$program" = busybox || ln -s busybox "busybox/bin/$program"
done
printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >busybox/etc/passwd
printf 'root:x:0:\nnogroup:x:65534:\n' >busybox/etc/group

# Copies the libraries that a program needs into an image.
copy_libraries() {
    # Lines are `name => /path (0x…)` or, for the loader, `/path (0x…)`.
    ldd "$1" | sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | while read -r library; do
        mkdir -p "$2${library%/*}"
        cp -L "$library" "$2$library"
    done
}

cp -a busybox bash
bash=$(command -v bash)
cp -L "$bash" bash/bin/bash
copy_libraries "$bash" bash

# Not one of a user's own: it has to be where it is also found in the sandbox.
python=$(PATH=/usr/local/bin:/usr/bin:/bin command -v python3)
modules=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
cp -a bash python
mkdir -p "python${python%/*}" "python$modules"
cp -L "$python" "python$python"
copy_libraries "$python" python
tar -C "$modules" --exclude='./config-*' --exclude='./test' --exclude='*-packages' \
    --exclude=__pycache__ -cf - . | tar -C "python$modules" -xf -

for image in busybox bash python empty; do
    tar -C "$image" --owner=0 --group=0 --numeric-owner -cf "$image.tar" .
done
rm -r busybox bash python empty
