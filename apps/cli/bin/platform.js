#!/usr/bin/env node
/** The published command: finds Node 24 or newer and runs the command line with it; `up` also prints which Node it found. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { becomeNode, thriftyEnvironment, thriftyFlags } from './become-node.js';
import { findNode } from './find-node.js';

const { found, missing } = findNode(import.meta.url);
if (found) {
  if (process.argv[2] === 'up') process.stderr.write(`platform: Node ${found.version} (${found.source})\n`);
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
  const home = process.env.PLATFORM_HOME ?? join(homedir(), '.platform');
  const env = { ...thriftyEnvironment, NODE_COMPILE_CACHE: join(home, 'cache', 'compile'), ...process.env };
  const args = [...thriftyFlags, '--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)];
  process.exitCode = await becomeNode(found, args, env);
} else {
  process.stderr.write(`${missing}\n`);
  process.exitCode = 1;
}
