# Makes the archives of the test images, in the folder that is the argument.
#
# busybox.tar  a static busybox, its programs as links, and little else
# bash.tar     the same with this machine's bash and the libraries it needs
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

cp -a busybox bash
bash=$(command -v bash)
cp -L "$bash" bash/bin/bash
# Lines are `name => /path (0x…)` or, for the loader, `/path (0x…)`.
ldd "$bash" | sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | while read -r library; do
    mkdir -p "bash${library%/*}"
    cp -L "$library" "bash$library"
done

for image in busybox bash empty; do
    tar -C "$image" --owner=0 --group=0 --numeric-owner -cf "$image.tar" .
done
rm -r busybox bash empty
