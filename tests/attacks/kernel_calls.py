"""The few system calls that Python 3.11 does not wrap."""
import ctypes
import fcntl
import os
import socket
import struct

libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP = 0x20000000, 0x40000000, 0x02000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT = 1, 2, 4, 32
MS_BIND, MS_REC, MS_PRIVATE, MS_SHARED = 4096, 16384, 1 << 18, 1 << 20
MNT_DETACH = 2
SYS_PIVOT_ROOT, SYS_ADD_KEY, SYS_KEYCTL = 155, 248, 250  # x86_64
if os.uname().machine == "aarch64":
    SYS_PIVOT_ROOT, SYS_ADD_KEY, SYS_KEYCTL = 41, 217, 219
KEYCTL_JOIN_SESSION_KEYRING, KEY_SPEC_SESSION_KEYRING = 1, -3
IPC_CREAT, IPC_RMID = 0o1000, 0
PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG = 36, 1


def checked(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def unshare(flags):
    checked(libc.unshare(flags), "unshare")


def mount(source, target, kind=None, flags=0, options=None):
    encode = lambda text: None if text is None else os.fsencode(text)
    checked(libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(options)),
            f"mount {kind or 'bind'} on {target}")


def umount(target):
    checked(libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def pivot_root(new_root, put_old):
    checked(libc.syscall(SYS_PIVOT_ROOT, os.fsencode(new_root), os.fsencode(put_old)), "pivot_root")


def prctl(option, value):
    checked(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), "prctl")


def fresh_session_key(name, secret):
    """A session keyring of the calling process alone, with one key in it."""
    checked(libc.syscall(SYS_KEYCTL, KEYCTL_JOIN_SESSION_KEYRING, None), "keyctl join")
    checked(libc.syscall(SYS_ADD_KEY, b"user", name.encode(), secret.encode(), len(secret),
                         ctypes.c_long(KEY_SPEC_SESSION_KEYRING)), "add_key")


def plant_system_v(key):
    """A segment, a semaphore and a message queue that anybody in this ipc namespace may use."""
    checked(libc.shmget(key, 4096, IPC_CREAT | 0o666), "shmget")
    checked(libc.semget(key, 1, IPC_CREAT | 0o666), "semget")
    checked(libc.msgget(key, IPC_CREAT | 0o666), "msgget")


def configure_loopback(addresses):
    """Brings lo up and gives it further addresses, as ip(8) would."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: UP | RUNNING
        for number, address in enumerate(addresses):
            name = b"lo:%d" % number
            request = struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, 0x8916, request)  # SIOCSIFADDR
