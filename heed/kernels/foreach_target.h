// Compiles the rest of a kernel's file once per instruction set. simd.h shows how it is used.
#pragma once

#include "heed/kernels/targets.h"
//
#include <hwy/foreach_target.h>
