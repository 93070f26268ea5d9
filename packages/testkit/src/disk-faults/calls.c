/* The calls that this library replaces: each asks for its fault, does its work, and records it. Described in faults.c. */
#include "faults.h"
#include <dirent.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>

DECLARE(openat); DECLARE(read); DECLARE(pread64); DECLARE(readv); DECLARE(preadv64); DECLARE(write); DECLARE(pwrite64);
DECLARE(writev); DECLARE(pwritev64); DECLARE(fsync); DECLARE(fdatasync); DECLARE(ftruncate64); DECLARE(rename); DECLARE(unlink);
DECLARE(unlinkat); DECLARE(rmdir); DECLARE(mkdir); DECLARE(link); DECLARE(opendir); DECLARE(scandir64); DECLARE(copy_file_range);
DECLARE(sendfile64); DECLARE(syscall);

static atomic_ulong sync_count;

#define FAULT(call, path, forgotten)                 \
  long value = 0;                                    \
  int action = due(call, path, &value);              \
  if (action == FAIL) return errno = (int)value, -1; \
  if (action == FORGET) return forgotten;

/* Records a call that changes names, if it succeeds. */
#define NAMING(call, kind, path, to, run)        \
  FAULT(call, path, 0)                           \
  pthread_mutex_lock(&order);                    \
  int result = run;                              \
  if (result == 0) record(kind, 0, path, to, NULL, 0); \
  pthread_mutex_unlock(&order);                  \
  return result;

static int open_at(int directory, const char *path, int flags, mode_t mode) {
  char at[PATH_MAX];
  if (!named(directory, path, at)) return REAL(openat)(directory, path, flags, mode);
  FAULT("open", at, (errno = EIO, -1))
  pthread_mutex_lock(&order);
  int is_new = (flags & O_CREAT) != 0 && faccessat(directory, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
  int fd = REAL(openat)(directory, path, flags, mode);
  if (fd >= 0 && is_new) record("create", 0, at, NULL, NULL, 0);
  else if (fd >= 0 && (flags & O_TRUNC) != 0) record("truncate", 0, at, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  return fd;
}

#define OPEN_MODE \
  mode_t mode = 0; \
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
int open(const char *path, int flags, ...) { OPEN_MODE return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { OPEN_MODE return open_at(AT_FDCWD, path, flags, mode); }
int openat(int directory, const char *path, int flags, ...) { OPEN_MODE return open_at(directory, path, flags, mode); }
int openat64(int directory, const char *path, int flags, ...) { OPEN_MODE return open_at(directory, path, flags, mode); }
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

static size_t shortened(size_t count, long value) {
  size_t least = count > 1 ? count / 2 : count;
  return value > 0 && (size_t)value < count ? (size_t)value : least;
}

/* `at` -1: at the position of the file, which append mode and earlier writes have moved. */
static ssize_t write_at(const char *call, int fd, const void *bytes, size_t count, off64_t at) {
  char path[PATH_MAX];
  if (!opened(fd, path)) return at < 0 ? REAL(write)(fd, bytes, count) : REAL(pwrite64)(fd, bytes, count, at);
  FAULT(call, path, (ssize_t)count)
  if (action == SHORT) count = shortened(count, value);
  pthread_mutex_lock(&order);
  ssize_t done = at < 0 ? REAL(write)(fd, bytes, count) : REAL(pwrite64)(fd, bytes, count, at);
  if (done > 0) record("write", (unsigned long)(at < 0 ? lseek64(fd, 0, SEEK_CUR) - done : at), path, NULL, bytes, (size_t)done);
  pthread_mutex_unlock(&order);
  return done;
}

/* One part after the other: a caller continues after a short write. */
static ssize_t write_parts(const char *call, int fd, const struct iovec *parts, int count, off64_t at) {
  char path[PATH_MAX];
  if (!opened(fd, path)) return at < 0 ? REAL(writev)(fd, parts, count) : REAL(pwritev64)(fd, parts, count, at);
  ssize_t sum = 0;
  for (int part = 0; part < count; part++) {
    ssize_t done = write_at(call, fd, parts[part].iov_base, parts[part].iov_len, at < 0 ? at : at + sum);
    if (done < 0) return sum > 0 ? sum : done;
    sum += done;
    if ((size_t)done < parts[part].iov_len) break;
  }
  return sum;
}

ssize_t write(int fd, const void *bytes, size_t count) { return write_at("write", fd, bytes, count, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return write_at("pwrite", fd, bytes, count, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { return write_at("pwrite", fd, bytes, count, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return write_parts("writev", fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return write_parts("pwritev", fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return write_parts("pwritev", fd, parts, count, at); }

#define READING(call, plain, shorter)                         \
  char path[PATH_MAX];                                        \
  if (!opened(fd, path)) return plain;                        \
  FAULT(call, path, 0)                                        \
  return action == SHORT ? shorter : plain;

ssize_t read(int fd, void *to, size_t count) {
  READING("read", REAL(read)(fd, to, count), REAL(read)(fd, to, shortened(count, value)))
}
ssize_t pread64(int fd, void *to, size_t count, off64_t at) {
  READING("pread", REAL(pread64)(fd, to, count, at), REAL(pread64)(fd, to, shortened(count, value), at))
}
ssize_t pread(int fd, void *to, size_t count, off_t at) { return pread64(fd, to, count, at); }
ssize_t readv(int fd, const struct iovec *parts, int count) {
  READING("readv", REAL(readv)(fd, parts, count), REAL(readv)(fd, parts, 1))
}
ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t at) {
  READING("preadv", REAL(preadv64)(fd, parts, count, at), REAL(preadv64)(fd, parts, 1, at))
}
ssize_t preadv(int fd, const struct iovec *parts, int count, off_t at) { return preadv64(fd, parts, count, at); }

/* A copy is recorded as a write of what it copied, read from its source. */
static void record_copy(const char *path, int from, off64_t source, off64_t target, ssize_t done) {
  char bytes[65536];
  for (ssize_t sum = 0, got; sum < done; sum += got) {
    size_t wanted = (size_t)(done - sum) < sizeof bytes ? (size_t)(done - sum) : sizeof bytes;
    got = REAL(pread64)(from, bytes, wanted, source + sum);
    if (got <= 0) break;
    record("write", (unsigned long)(target + sum), path, NULL, bytes, (size_t)got);
  }
}
static ssize_t copying(const char *call, int from, off64_t *source, int to, off64_t *target, size_t count, unsigned flags) {
  char path[PATH_MAX];
  int is_recorded = opened(to, path);
  if (is_recorded) {
    FAULT(call, path, (ssize_t)count)
    if (action == SHORT) count = shortened(count, value);
  }
  pthread_mutex_lock(&order);
  off64_t read_from = source ? *source : lseek64(from, 0, SEEK_CUR), write_to = target ? *target : lseek64(to, 0, SEEK_CUR);
  ssize_t done = strcmp(call, "sendfile") == 0 ? REAL(sendfile64)(to, from, source, count)
                                               : REAL(copy_file_range)(from, source, to, target, count, flags);
  if (is_recorded && done > 0) record_copy(path, from, read_from, write_to, done);
  pthread_mutex_unlock(&order);
  return done;
}
ssize_t copy_file_range(int from, off64_t *source, int to, off64_t *target, size_t count, unsigned flags) {
  return copying("copy_file_range", from, source, to, target, count, flags);
}
/* libuv makes this call without the C library. */
long syscall(long number, ...) {
  long given[6];
  va_list more;
  va_start(more, number);
  for (int at = 0; at < 6; at++) given[at] = va_arg(more, long);
  va_end(more);
  if (number != SYS_copy_file_range)
    return REAL(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  return copying("copy_file_range", (int)given[0], (off64_t *)given[1], (int)given[2], (off64_t *)given[3], (size_t)given[4],
                 (unsigned)given[5]);
}
ssize_t sendfile64(int to, int from, off64_t *source, size_t count) { return copying("sendfile", from, source, to, NULL, count, 0); }
ssize_t sendfile(int to, int from, off_t *source, size_t count) { return sendfile64(to, from, (off64_t *)source, count); }

/* What was recorded before the sync began is covered by it. */
static int sync_file(const char *call, int fd, int (*sync)(int)) {
  char path[PATH_MAX];
  if (!opened(fd, path)) return sync(fd);
  unsigned long number = ((unsigned long)getpid() << 32) + atomic_fetch_add(&sync_count, 1);
  pthread_mutex_lock(&order);
  record("begin", number, path, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  long value = 0;
  int action = due(call, path, &value), result = 0;
  if (action == FORGET) return 0;
  if (action == FAIL) errno = (int)value, result = -1;
  else result = sync(fd);
  pthread_mutex_lock(&order);
  record(result == 0 ? "sync" : "failed", number, path, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}
int fsync(int fd) { return sync_file("fsync", fd, REAL(fsync)); }
int fdatasync(int fd) { return sync_file("fdatasync", fd, REAL(fdatasync)); }

int ftruncate64(int fd, off64_t length) {
  char path[PATH_MAX];
  if (!opened(fd, path)) return REAL(ftruncate64)(fd, length);
  FAULT("ftruncate", path, 0)
  pthread_mutex_lock(&order);
  int result = REAL(ftruncate64)(fd, length);
  if (result == 0) record("truncate", (unsigned long)length, path, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int rename(const char *from, const char *to) {
  char path[PATH_MAX], target[PATH_MAX];
  if (!named(AT_FDCWD, from, path) || !named(AT_FDCWD, to, target)) return REAL(rename)(from, to);
  NAMING("rename", "rename", path, target, REAL(rename)(from, to))
}
int link(const char *from, const char *to) {
  char path[PATH_MAX], target[PATH_MAX];
  if (!named(AT_FDCWD, from, path) || !named(AT_FDCWD, to, target)) return REAL(link)(from, to);
  NAMING("link", "link", path, target, REAL(link)(from, to))
}
int unlink(const char *name) {
  char path[PATH_MAX];
  if (!named(AT_FDCWD, name, path)) return REAL(unlink)(name);
  NAMING("unlink", "unlink", path, NULL, REAL(unlink)(name))
}
int unlinkat(int directory, const char *name, int flags) {
  char path[PATH_MAX];
  if (!named(directory, name, path)) return REAL(unlinkat)(directory, name, flags);
  NAMING((flags & AT_REMOVEDIR) != 0 ? "rmdir" : "unlink", "unlink", path, NULL, REAL(unlinkat)(directory, name, flags))
}
int rmdir(const char *name) {
  char path[PATH_MAX];
  if (!named(AT_FDCWD, name, path)) return REAL(rmdir)(name);
  NAMING("rmdir", "unlink", path, NULL, REAL(rmdir)(name))
}
int mkdir(const char *name, mode_t mode) {
  char path[PATH_MAX];
  if (!named(AT_FDCWD, name, path)) return REAL(mkdir)(name, mode);
  NAMING("mkdir", "mkdir", path, NULL, REAL(mkdir)(name, mode))
}

DIR *opendir(const char *name) {
  char path[PATH_MAX];
  long value = 0;
  if (named(AT_FDCWD, name, path) && due("list", path, &value) == FAIL) return errno = (int)value, NULL;
  return REAL(opendir)(name);
}
int scandir64(const char *name, struct dirent64 ***found, int (*filter)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **)) {
  char path[PATH_MAX];
  long value = 0;
  if (named(AT_FDCWD, name, path) && due("list", path, &value) == FAIL) return errno = (int)value, -1;
  return REAL(scandir64)(name, found, filter, compare);
}
int scandir(const char *name, struct dirent ***found, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **)) {
  return scandir64(name, (struct dirent64 ***)found, (int (*)(const struct dirent64 *))filter,
                   (int (*)(const struct dirent64 **, const struct dirent64 **))compare);
}
