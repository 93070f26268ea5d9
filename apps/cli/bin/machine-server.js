#!/usr/bin/env node
/** The published machine-server. */
import { fileURLToPath } from 'node:url';
import { machineServerFlags } from './become-node.js';
import { launch } from './launch.js';

await launch(fileURLToPath(import.meta.resolve('@platform/machine-server/main')), { flags: machineServerFlags });
