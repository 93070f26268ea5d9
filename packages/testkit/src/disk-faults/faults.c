/*
 * A preloaded library (LD_PRELOAD, Linux with glibc) below all file calls of a process: makes them fail, shortens, delays or forgets them,
 * and records what they did, so that a power cut can be computed (power-cut.ts). Started and described by disk-faults.ts.
 *
 * DISK_FAULTS names a folder with
 *   root     the directory whose files are meant; all other calls pass
 *   rules    lines "slot calls pattern action value skip times"; read again when it changes
 *   counts   for each slot: matching calls, affected calls (two 32-bit numbers), shared by all processes
 *   journal  records "\1R <length of the bytes> <kind> <number>\t<path>\t<other path>\n" and the bytes
 *
 * A failed sync does not reach the disk and is recorded as failed. Files are found by /proc/self/fd, so that a renamed file has its current
 * name. Child processes inherit the library. Not seen: mmap (the -shm file of SQLite), stat, statfs, FICLONE.
 */
#include "faults.h"
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define MAX_RULES 64

DECLARE(open);
DECLARE(read);
DECLARE(writev);

struct rule {
  int slot, action;
  long value;
  unsigned skip, times;
  char calls[160], pattern[PATH_MAX];
};

static char folder[PATH_MAX], root[PATH_MAX];
static struct rule rules[MAX_RULES];
static int rule_count, journal = -1;
static struct timespec rules_read;
static ino_t rules_inode;
static struct { _Atomic unsigned seen, fired; } *counts;
pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

void *real(void *_Atomic *kept, const char *name) {
  if (*kept == NULL) *kept = dlsym(RTLD_NEXT, name);
  return *kept;
}

/* Raw calls for our own files; they are outside of the root. */
static int our_file(const char *name, int flags) {
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return REAL(open)(path, flags | O_CLOEXEC, 0600);
}

__attribute__((constructor)) static void begin(void) {
  const char *given = getenv("DISK_FAULTS");
  if (given == NULL) return;
  snprintf(folder, sizeof folder, "%s", given);
  int file = our_file("root", O_RDONLY);
  ssize_t length = file < 0 ? -1 : REAL(read)(file, root, sizeof root - 1);
  if (file >= 0) close(file);
  int shared = our_file("counts", O_RDWR);
  if (shared >= 0) {
    void *at = mmap(NULL, MAX_RULES * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (at != MAP_FAILED) counts = at;
    close(shared);
  }
  journal = our_file("journal", O_WRONLY | O_APPEND);
  if (length > 0 && counts != NULL && journal >= 0) return;
  fprintf(stderr, "disk-faults: %s lacks root, counts or journal\n", folder);
  _exit(98);
}

/* Absolute paths below the root only. */
static int is_ours(const char *path) {
  size_t length = strlen(root);
  return length > 0 && strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

int named(int directory, const char *path, char *found) {
  if (root[0] == '\0') return 0;
  static const char door[] = "/proc/self/fd/";
  /* Below an open folder, as the machine-server names files: "/proc/self/fd/21/name". */
  if (strncmp(path, door, sizeof door - 1) == 0) {
    char *rest;
    directory = (int)strtol(path + sizeof door - 1, &rest, 10);
    path = rest + (*rest == '/');
  }
  if (path[0] == '/') snprintf(found, PATH_MAX, "%s", path);
  else {
    char link[64], at[PATH_MAX];
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, at, sizeof at - 1);
    if (length <= 0) return 0;
    at[length] = '\0';
    if (snprintf(found, PATH_MAX, "%s/%s", at, path) >= PATH_MAX) return 0;
  }
  size_t length = strlen(found);
  while (length > 1 && found[length - 1] == '/') found[--length] = '\0';
  return is_ours(found);
}

/* A file without a name is lost anyway. */
int opened(int fd, char *found) {
  if (root[0] == '\0') return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int kept = errno;
  ssize_t length = readlink(link, found, PATH_MAX - 1);
  errno = kept;
  if (length <= 0) return 0;
  found[length] = '\0';
  return is_ours(found) && strstr(found, " (deleted)") == NULL;
}

static void read_rules(void) {
  char path[PATH_MAX + 16], text[MAX_RULES * 512], *rest = text;
  struct stat found;
  snprintf(path, sizeof path, "%s/rules", folder);
  if (stat(path, &found) != 0) return;
  if (found.st_ino == rules_inode && memcmp(&found.st_mtim, &rules_read, sizeof rules_read) == 0) return;
  int file = our_file("rules", O_RDONLY);
  if (file < 0) return;
  ssize_t length = REAL(read)(file, text, sizeof text - 1);
  close(file);
  if (length < 0) return;
  text[length] = '\0';
  rules_inode = found.st_ino;
  rules_read = found.st_mtim;
  rule_count = 0;
  for (char *line; rule_count < MAX_RULES && (line = strsep(&rest, "\n")) != NULL;) {
    struct rule *rule = &rules[rule_count];
    if (sscanf(line, "%d %159s %4095s %d %ld %u %u", &rule->slot, rule->calls, rule->pattern, &rule->action, &rule->value, &rule->skip,
               &rule->times) == 7)
      rule_count++;
  }
}

static int lists(const char *calls, const char *call) {
  char either[180], one[48];
  snprintf(either, sizeof either, ",%s,", calls);
  snprintf(one, sizeof one, ",%s,", call);
  return strcmp(calls, "*") == 0 || strstr(either, one) != NULL;
}

int due(const char *call, const char *path, long *value) {
  int action = PASS, kept = errno;
  long delay = 0;
  pthread_mutex_lock(&order);
  read_rules();
  for (int at = 0; at < rule_count && action == PASS; at++) {
    struct rule *rule = &rules[at];
    if (!lists(rule->calls, call) || fnmatch(rule->pattern, path, 0) != 0) continue;
    unsigned seen = atomic_fetch_add(&counts[rule->slot].seen, 1);
    if (seen < rule->skip || (rule->times > 0 && seen - rule->skip >= rule->times)) continue;
    atomic_fetch_add(&counts[rule->slot].fired, 1);
    if (rule->action == DELAY) delay += rule->value;
    else {
      action = rule->action;
      *value = rule->value;
    }
  }
  pthread_mutex_unlock(&order);
  struct timespec wait = {delay / 1000, delay % 1000 * 1000000};
  while (delay > 0 && nanosleep(&wait, &wait) != 0 && errno == EINTR) continue;
  errno = kept;
  return action;
}

void record(const char *kind, unsigned long number, const char *path, const char *to, const void *bytes, size_t length) {
  char head[2 * PATH_MAX + 128];
  int size = snprintf(head, sizeof head, "\1R %zu %s %lu\t%s\t%s\n", length, kind, number, path, to == NULL ? "" : to);
  struct iovec parts[2] = {{head, (size_t)size}, {(void *)bytes, length}};
  int kept = errno;
  if (REAL(writev)(journal, parts, length > 0 ? 2 : 1) != (ssize_t)(size + length)) {
    fprintf(stderr, "disk-faults: the journal cannot be written: %s\n", strerror(errno));
    _exit(98);
  }
  errno = kept;
}
