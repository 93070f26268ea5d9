/** Logical bytes of the rows of some paths on each capture day, in files. Unsealed rows are not counted. */
import { chunks, unavailable } from '@platform/base';
import type { Catalog } from '../catalog/catalog.ts';
import type { ListedFile } from '../catalog/read-catalog.ts';
import type { PathRule } from '../catalog/row-filter.ts';
import type { Child } from '../child/child.ts';
import { coverageOf } from '../deletion/coverage.ts';
import type { FileRef, FromChild } from '../process/messages.ts';

export type BytesByDay = ReadonlyMap<string, number>;

export interface Measure {
  /** Results in the order of the rules. Throws unavailable when the child dies before it answers. */
  bytesByDay(organizationId: string, rules: readonly PathRule[], signal: AbortSignal): Promise<readonly BytesByDay[]>;
  answered(message: Extract<FromChild, { kind: 'measured' }>): void;
  onDeath(): void;
}

const filesAtOnce = 50;

export function createMeasure({
  child,
  catalog,
}: {
  child: () => Child;
  catalog: Pick<Catalog, 'listedFiles'>;
}): Measure {
  const asked = new Map<number, (bytes: readonly (readonly number[])[] | null) => void>();
  let nextId = 1;
  /** Results by organization, file and rule; files never change. */
  const known = new Map<string, Map<string, Map<string, number>>>();

  const ask = async (files: readonly FileRef[], rules: readonly PathRule[], signal: AbortSignal) => {
    await child().ready(signal);
    const bytes = await new Promise<readonly (readonly number[])[] | null>((resolve) => {
      const id = nextId++;
      asked.set(id, resolve);
      const refs = files.map(({ file, format, captureDay, expected }) => ({
        file,
        format,
        captureDay,
        ...(expected && { expected }),
      }));
      child().send({ kind: 'measure', id, files: refs, rules });
    });
    if (bytes === null) throw unavailable('the sizes of files could not be read; try again');
    return bytes;
  };

  return {
    async bytesByDay(organizationId, rules, signal) {
      const keys = rules.map((rule) => JSON.stringify(rule));
      const before = known.get(organizationId);
      const sizes = new Map<string, Map<string, number>>();
      known.set(organizationId, sizes);
      const days = rules.map(() => new Map<string, number>());
      const files = (await catalog.listedFiles(organizationId)).filter((file) =>
        rules.some((rule) => mayHold(file, rule)),
      );
      for (const some of chunks(files, filesAtOnce)) {
        for (const { file } of some) sizes.set(file, new Map(before?.get(file)));
        const unknown = some.filter(({ file }) => keys.some((key) => sizes.get(file)?.has(key) !== true));
        if (unknown.length > 0) {
          const names = unknown.map(({ file }) => file);
          const bytes = await ask(unknown, rules, signal);
          for (const [i, file] of names.entries())
            for (const [rule, key] of keys.entries()) sizes.get(file)?.set(key, bytes[i]?.[rule] ?? 0);
        }
        for (const { file, captureDay } of some)
          for (const [rule, ofRule] of days.entries()) {
            const bytes = sizes.get(file)?.get(keys[rule] ?? '') ?? 0;
            if (bytes > 0) ofRule.set(captureDay, (ofRule.get(captureDay) ?? 0) + bytes);
          }
      }
      return days;
    },
    answered({ id, bytes }) {
      asked.get(id)?.(bytes);
      asked.delete(id);
    },
    onDeath() {
      for (const resolve of asked.values()) resolve(null);
      asked.clear();
    },
  };
}

function mayHold(file: ListedFile, paths: PathRule): boolean {
  return coverageOf(file, { predicate: { paths }, upTo: Number.MAX_SAFE_INTEGER }) !== 'none';
}
