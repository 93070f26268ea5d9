#!/usr/bin/env node
/** The published command line; `up` also prints which Node it found, unless it is the pinned one. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.js';

await launch(fileURLToPath(new URL('../dist/platform.js', import.meta.url)), { saysNode: process.argv[2] === 'up' });
