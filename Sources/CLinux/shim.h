#pragma once
#include <fcntl.h>
// The parts of the Linux C library that the toolchain's Glibc module leaves out.
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// The global variable itself can't be read from Swift 6.
static inline char **coinledger_environment(void) { return environ; }

// glibc declares these for GNU sources only, which Swift's importer doesn't ask for.
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
int pipe2(int *, int);
struct sockaddr;
int accept4(int, struct sockaddr *, unsigned int *, int);
