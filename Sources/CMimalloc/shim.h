#pragma once
// Nothing of it is called: a program that is linked with the library has its malloc and free.
#include <mimalloc.h>
