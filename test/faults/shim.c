/*
 * A disk that fails on demand: loaded before libc (LD_PRELOAD), it counts the calls that change files under one folder and does something to the n-th.
 *
 *   FAULT_FOLDER  only files under this folder (a real path) count
 *   FAULT_AT      which call, from 1; 0 only counts
 *   FAULT_HOW     fail    that call fails with FAULT_ERRNO and changes nothing
 *                 lasting that call and every later one that needs room or a working disk fail with it
 *                 short   that call writes half of what it should and says so (calls that do not write fail)
 *                 kill    the process dies before it
 *                 tear    the process dies after half of it
 *                 after   the process dies right after it
 *                 spoil   a byte of FAULT_VICTIM changes before it
 *   FAULT_ERRNO   the number of the error
 *   FAULT_ONLY    only processes whose command line has this word; all others work on a sound disk and hand the settings on
 *   FAULT_LOG     where every counted call is listed, one line each: what, where
 *
 * The settings are taken out of the environment, so that processes started by this one work on a sound disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum how { FAIL, LASTING, SHORT, KILL, TEAR, AFTER, SPOIL };
static const char *const words[] = {"fail", "lasting", "short", "kill", "tear", "after", "spoil"};

static char folder[PATH_MAX], victim[PATH_MAX];
static size_t folder_length;
static long at;
static enum how how = FAIL;
static int error_number = EIO, log_file = -1;
static atomic_long calls;

static int meant_for_us(void) {
  const char *word = getenv("FAULT_ONLY");
  if (!word) return 1;
  static char line[1 << 16];
  int opened = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY, 0);
  ssize_t length = opened < 0 ? 0 : syscall(SYS_read, opened, line, sizeof line - 1);
  if (opened >= 0) syscall(SYS_close, opened);
  for (ssize_t k = 0; k < length; k++)
    if (!line[k]) line[k] = ' ';
  return strstr(line, word) != NULL;
}

static void take(const char *name, char *into) {
  const char *value = getenv(name);
  if (value) snprintf(into, PATH_MAX, "%s", value);
  unsetenv(name);
}

__attribute__((constructor)) static void begin(void) {
  char text[PATH_MAX] = "";
  if (!meant_for_us()) return;
  unsetenv("FAULT_ONLY");
  take("FAULT_FOLDER", folder);
  folder_length = strlen(folder);
  take("FAULT_VICTIM", victim);
  take("FAULT_AT", text), at = atol(text), text[0] = 0;
  take("FAULT_ERRNO", text);
  if (text[0]) error_number = atoi(text);
  text[0] = 0;
  take("FAULT_HOW", text);
  for (int k = 0; k <= SPOIL; k++)
    if (!strcmp(text, words[k])) how = k;
  text[0] = 0;
  take("FAULT_LOG", text);
  if (text[0]) log_file = syscall(SYS_openat, AT_FDCWD, text, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

static void die(void) { syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); }

static void spoil(void) {
  int opened = syscall(SYS_openat, AT_FDCWD, victim, O_RDWR | O_CLOEXEC, 0);
  struct stat found;
  char byte;
  if (opened < 0) return;
  if (!syscall(SYS_fstat, opened, &found) && found.st_size > 0) {
    off_t where = (at * 7919) % found.st_size;
    syscall(SYS_pread64, opened, &byte, 1, where);
    byte ^= (char)(1 << (at % 8));
    syscall(SYS_pwrite64, opened, &byte, 1, where);
  }
  syscall(SYS_close, opened);
}

static int inside(const char *path) {
  return folder_length > 0 && !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}
static int place_of(int file, char *into) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = syscall(SYS_readlink, link, into, PATH_MAX - 1);
  if (length <= 0) return 0;
  into[length] = 0;
  return inside(into);
}
static int place_at(int base, const char *path, char *into) {
  if (folder_length == 0 || !path) return 0;
  char parent[PATH_MAX] = "";
  if (path[0] != '/') {
    if (base == AT_FDCWD) {
      if (syscall(SYS_getcwd, parent, PATH_MAX) <= 0) return 0;
    } else {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", base);
      ssize_t length = syscall(SYS_readlink, link, parent, PATH_MAX - 1);
      if (length <= 0) return 0;
      parent[length] = 0;
    }
  }
  if (snprintf(into, PATH_MAX, "%s%s%s", parent, parent[0] ? "/" : "", path) >= PATH_MAX) return 0;
  return inside(into);
}

/* What is to happen to this call: 0 as usual, 1 fail, 2 half of it, 3 half of it and die, 4 all of it and die. */
static int turn(const char *what, const char *place, int writes) {
  long n = atomic_fetch_add(&calls, 1) + 1;
  if (log_file >= 0) {
    char line[PATH_MAX + 32];
    int length = snprintf(line, sizeof line, "%s %s\n", what, place);
    if (length > 0) syscall(SYS_write, log_file, line, length);
  }
  if (at == 0 || n < at || (n > at && how != LASTING)) return 0;
  switch (how) {
    case FAIL: return 1;
    /* Removing and shortening need no room; a broken disk refuses them, too. */
    case LASTING: return error_number != ENOSPC || (strcmp(what, "unlink") && strcmp(what, "ftruncate")) ? 1 : 0;
    case SHORT: return writes ? 2 : 1;
    case KILL: die(); return 1;
    case TEAR: return writes ? 3 : (die(), 1);
    case AFTER: return 4;
    case SPOIL: spoil(); return 0;
  }
  return 0;
}

#define REAL(name) ((__typeof__(&name))real(&real_##name, #name))
#define DECLARE(name) static void *real_##name
static void *real(void **known, const char *name) {
  if (!*known) *known = dlsym(RTLD_NEXT, name);
  return *known;
}
#define FAILED (errno = error_number, -1)

#define ON_FILE(name, label, file, call, half, writes) \
  char place[PATH_MAX]; \
  int kept = errno, fate = folder_length && place_of(file, place) ? turn(label, place, writes) : 0; \
  errno = kept; \
  if (fate == 1) return FAILED; \
  if (fate == 2) return half; \
  if (fate == 3) { (void)!(half); die(); } \
  if (fate == 4) { (void)!(call); die(); } \
  return call;

DECLARE(write);
ssize_t write(int file, const void *bytes, size_t length) {
  ON_FILE(write, "write", file, REAL(write)(file, bytes, length), REAL(write)(file, bytes, length / 2), length > 1)
}
DECLARE(pwrite);
ssize_t pwrite(int file, const void *bytes, size_t length, off_t from) {
  ON_FILE(pwrite, "write", file, REAL(pwrite)(file, bytes, length, from), REAL(pwrite)(file, bytes, length / 2, from), length > 1)
}
DECLARE(pwrite64);
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t from) {
  ON_FILE(pwrite64, "write", file, REAL(pwrite64)(file, bytes, length, from), REAL(pwrite64)(file, bytes, length / 2, from), length > 1)
}
DECLARE(writev);
ssize_t writev(int file, const struct iovec *parts, int count) {
  ON_FILE(writev, "write", file, REAL(writev)(file, parts, count), REAL(writev)(file, parts, count / 2), count > 1)
}
DECLARE(pwritev);
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t from) {
  ON_FILE(pwritev, "write", file, REAL(pwritev)(file, parts, count, from), REAL(pwritev)(file, parts, count / 2, from), count > 1)
}
DECLARE(pwritev64);
ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t from) {
  ON_FILE(pwritev64, "write", file, REAL(pwritev64)(file, parts, count, from), REAL(pwritev64)(file, parts, count / 2, from), count > 1)
}
DECLARE(fsync);
int fsync(int file) { ON_FILE(fsync, "fsync", file, REAL(fsync)(file), -1, 0) }
DECLARE(fdatasync);
int fdatasync(int file) { ON_FILE(fdatasync, "fsync", file, REAL(fdatasync)(file), -1, 0) }
DECLARE(ftruncate);
int ftruncate(int file, off_t length) { ON_FILE(ftruncate, "ftruncate", file, REAL(ftruncate)(file, length), -1, 0) }
DECLARE(ftruncate64);
int ftruncate64(int file, off64_t length) { ON_FILE(ftruncate64, "ftruncate", file, REAL(ftruncate64)(file, length), -1, 0) }
DECLARE(fallocate);
int fallocate(int file, int mode, off_t from, off_t length) {
  ON_FILE(fallocate, "fallocate", file, REAL(fallocate)(file, mode, from, length), -1, 0)
}
DECLARE(fallocate64);
int fallocate64(int file, int mode, off64_t from, off64_t length) {
  ON_FILE(fallocate64, "fallocate", file, REAL(fallocate64)(file, mode, from, length), -1, 0)
}

#define ON_PATH(label, base, path, call) \
  char place[PATH_MAX]; \
  int kept = errno, fate = place_at(base, path, place) ? turn(label, place, 0) : 0; \
  errno = kept; \
  if (fate == 1) return FAILED; \
  if (fate == 4) { (void)!(call); die(); } \
  return call;

DECLARE(rename);
int rename(const char *from, const char *to) { ON_PATH("rename", AT_FDCWD, to, REAL(rename)(from, to)) }
DECLARE(renameat);
int renameat(int a, const char *from, int b, const char *to) { ON_PATH("rename", b, to, REAL(renameat)(a, from, b, to)) }
DECLARE(link);
int link(const char *from, const char *to) { ON_PATH("link", AT_FDCWD, to, REAL(link)(from, to)) }
DECLARE(linkat);
int linkat(int a, const char *from, int b, const char *to, int flags) {
  ON_PATH("link", b, to, REAL(linkat)(a, from, b, to, flags))
}
DECLARE(unlink);
int unlink(const char *path) { ON_PATH("unlink", AT_FDCWD, path, REAL(unlink)(path)) }
DECLARE(unlinkat);
int unlinkat(int base, const char *path, int flags) { ON_PATH("unlink", base, path, REAL(unlinkat)(base, path, flags)) }
DECLARE(mkdir);
int mkdir(const char *path, mode_t mode) { ON_PATH("mkdir", AT_FDCWD, path, REAL(mkdir)(path, mode)) }

DECLARE(rmdir);
int rmdir(const char *path) { ON_PATH("unlink", AT_FDCWD, path, REAL(rmdir)(path)) }
DECLARE(mkdtemp);
char *mkdtemp(char *path) {
  char place[PATH_MAX];
  int kept = errno, fate = place_at(AT_FDCWD, path, place) ? turn("mkdir", place, 0) : 0;
  errno = kept;
  if (fate == 1) return errno = error_number, NULL;
  char *made = REAL(mkdtemp)(path);
  if (fate == 4) die();
  return made;
}

/* Opening counts where it may make or empty a file. */
#define OPENED(name, base, call) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | __O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  } \
  if (!(flags & (O_CREAT | O_TRUNC))) return call; \
  ON_PATH("open", base, path, call)

DECLARE(open);
int open(const char *path, int flags, ...) { OPENED(open, AT_FDCWD, REAL(open)(path, flags, mode)) }
DECLARE(open64);
int open64(const char *path, int flags, ...) { OPENED(open64, AT_FDCWD, REAL(open64)(path, flags, mode)) }
DECLARE(openat);
int openat(int base, const char *path, int flags, ...) { OPENED(openat, base, REAL(openat)(base, path, flags, mode)) }
DECLARE(openat64);
int openat64(int base, const char *path, int flags, ...) { OPENED(openat64, base, REAL(openat64)(base, path, flags, mode)) }
