/**
 * Runs before each test file of the project `postgres`. A file whose tests open no store, or only stores of kinds that they name, proves
 * there what it has proven in the project `sqlite`.
 */
import { afterAll } from 'vitest';
import { storesOpenedByDefault } from './test-store.ts';

const before = storesOpenedByDefault();

afterAll(() => {
  if (storesOpenedByDefault() > before) return;
  throw new Error(
    'expected a test that opens a store without naming its kind, found none: in the project postgres this file proves nothing of its own. tools/postgres-tests.ts says which files are in it',
  );
});
