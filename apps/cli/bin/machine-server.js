#!/usr/bin/env node
/** The published machine-server. */
import { fileURLToPath } from 'node:url';
import { nodeFlags } from '../dist/node-flags.js';
import { launch } from './launch.js';

await launch(fileURLToPath(new URL('../dist/machine-server.js', import.meta.url)), { flags: nodeFlags });
