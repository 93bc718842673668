#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 2400
#
# The pages with commands that take long (blocks ```console slow): are their answers still those
# that the program gives?

DOCS_SLOW=1 exec validation/e2e/docs.sh
