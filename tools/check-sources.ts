/** Our own checks of sources and documents, in one process: each file is read once. */
import { main as commands } from './check-commands.ts';
import { main as cycles } from './check-cycles.ts';
import { main as invariants } from './check-invariants.ts';
import { main as layers } from './check-layers.ts';
import { main as references } from './check-references.ts';
import { main as sideEffects } from './check-side-effects.ts';
import { main as tables } from './check-tables.ts';

for (const check of [layers, cycles, tables, sideEffects, invariants, references, commands]) check();
