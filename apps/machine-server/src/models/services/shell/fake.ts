/**
 * `core:builtin:fake`: a shell that starts no program: it returns what is typed, and answers each command with itself. It has no files. See
 * fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, unimplemented } from '@platform/base';
import { type Shell, shell } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const noFiles = (): never => {
  throw unimplemented('the fake shell has no files; use the model core:builtin:builtin');
};

export const createFakeShell: (clock: Clock) => Model = fakeModel<Shell, Record<never, never>>({
  type: shell,
  fields: {},
  make: () => ({
    async *shell(requests) {
      for await (const { dataIn } of requests) yield { dataOut: dataIn };
    },
    copyFilesToMachine: noFiles,
    copyFilesFromMachine: noFiles,
  }),
});
