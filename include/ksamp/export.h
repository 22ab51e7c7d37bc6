// SPDX-License-Identifier: Apache-2.0
// KSAMP_EXPORT marks what the shared library shows; everything else is hidden.
#ifndef KSAMP_EXPORT_H_
#define KSAMP_EXPORT_H_

#define KSAMP_EXPORT __attribute__((visibility("default")))

#endif  // KSAMP_EXPORT_H_
