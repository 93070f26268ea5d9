#!/usr/bin/env node
/** The published machine-server. */
import { fileURLToPath } from 'node:url';
import { nodeFlags } from '@platform/machine-server/node-flags';
import { launch } from './launch.js';

await launch(fileURLToPath(import.meta.resolve('@platform/machine-server/main')), { flags: nodeFlags });
