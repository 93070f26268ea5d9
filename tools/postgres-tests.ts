/** The test files that run on Postgres, too: found by their imports, so that no list of them is written by hand. */
import { globSync } from 'node:fs';
import { loadedBy } from './imports.ts';
import { longTests } from './long-tests.ts';
import { isTest, read, root } from './repository.ts';

/** Features with state in the metadata. */
const features = [
  'apps/cloud/src/{accounts,access,billing,binary,follow-log,fragments,gaps,identity,ingest,machines,outbox,packages,retention,triggers}/**/*.test.ts',
  'apps/cloud/src/queries/{saved,indexes}/*.test.ts',
  'apps/cloud/src/relay/{direct-calls,record-actuation}.test.ts',
  'apps/cloud/src/tabular/{integrity/catalog-damage,deletion/deleted-organization}.test.ts',
];

/** Opens a store of the kind that the environment names. */
export const testStore = 'apps/cloud/src/metadata/testing/test-store.ts';

/**
 * Of the tests of these features those that open such a store. The project's setup file, `require-default-store.ts`, lets others fail.
 * @returns paths relative to the root
 */
export function postgresTests(): string[] {
  const tests = globSync(features, { cwd: root, exclude: [longTests] }).toSorted();
  return opensStore(tests, read);
}

/**
 * Those that load `test-store.ts`, directly or by other code for tests, except those that name `storeKinds`: they choose their stores themselves, and run once.
 * @param readText the text of a file, by its path
 */
export function opensStore(tests: readonly string[], readText: (path: string) => string): string[] {
  return tests.filter(
    (test) => !/\bstoreKinds\b/.test(readText(test)) && loadedBy([test], isTest, readText).has(testStore),
  );
}
