/* What faults.c offers to calls.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* The function of the C library that ours hides. DECLARE stands once in each file that uses it. */
#define REAL(name) ((__typeof__(&name))real(&real_##name, #name))
#define DECLARE(name) static void *_Atomic real_##name
void *real(void *_Atomic *kept, const char *name);

enum action { PASS, FAIL, SHORT, FORGET, DELAY };

/* Whether a path, or an open file, is below the root; its absolute path goes to `found` (PATH_MAX bytes). */
int named(int directory, const char *path, char *found);
int opened(int fd, char *found);

/* The fault of this call, with its value, after its delays. */
int due(const char *call, const char *path, long *value);

/* Held during a change and its record, so that the records are in the order of the changes. */
extern pthread_mutex_t order;
void record(const char *kind, unsigned long number, const char *path, const char *to, const void *bytes, size_t length);
