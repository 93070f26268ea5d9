import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createCheckpoint } from './checkpoint.ts';
import { openWritable } from './sqlite-file.ts';

test('I2 a checkpoint throws what SQLite reports, except that the disk is full or the file busy', async () => {
  await using directory = await temporaryDirectory();
  using db = openWritable(directory.file('t.sqlite'));
  db.exec('create table t (text text)');
  const reported: { errcode?: number } = {};
  const failing = new Proxy(db, {
    get: (real, name) => {
      const value = Reflect.get(real, name);
      if (name !== 'exec') return typeof value === 'function' ? value.bind(real) : value;
      return () => {
        throw Object.assign(new Error(`reported ${reported.errcode}`), reported);
      };
    },
  });
  const checkpoint = createCheckpoint(failing);
  // Enough commits also for a SQLite that is asked only now and then.
  const afterCommits = (): void => {
    for (let commit = 0; commit < 64; commit++) checkpoint(0);
  };
  const primaryCodes = { busy: 5, io: 10, corrupt: 11, full: 13 };
  for (const errcode of [primaryCodes.io | (4 << 8), primaryCodes.io, primaryCodes.corrupt]) {
    reported.errcode = errcode;
    expect(afterCommits, `code ${errcode}`).toThrow(`reported ${errcode}`);
  }
  for (const errcode of [primaryCodes.busy, primaryCodes.full]) {
    reported.errcode = errcode;
    expect(afterCommits, `code ${errcode}`).not.toThrow();
  }
});
