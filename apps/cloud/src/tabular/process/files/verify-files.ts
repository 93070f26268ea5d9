/**
 * Verifies sealed files against the catalog before they are read (D33, docs/specs/integrity.md): the footer when a file is opened, the
 * whole file when rows are read. checked-file.ts has the states of one file.
 */
import { isSame } from '@platform/base';
import type { FileStamp } from '../../../instance/file-stamp.ts';
import type { FileRef, FoundFile } from '../messages.ts';
import { CheckedFile, type CheckedFileOptions } from './checked-file.ts';

export interface FileVerifier {
  /** Reader for one query or another task. Blocks verified before the signal's abort are not read again. */
  reader(signal?: AbortSignal): VerifiedReader;
  /** Sets the catalog's expectations of these files. */
  expect(files: readonly FileRef[]): void;
  /** Reads the whole file, regardless of earlier results. */
  scrub(file: FileRef, bytesPerSecond: number): Promise<FoundFile>;
  forget(files: readonly string[]): void;
}

export interface VerifiedReader {
  /** Verifies the footers, which describe the rows of the files. @throws data_loss naming the first damaged file; MissingFile */
  footers(files: readonly FileRef[]): Promise<void>;
  /** Verifies these files completely. Throws like `footers`. */
  rows(paths: Iterable<string>): Promise<void>;
  /** Checks that no file that was read has changed since. @throws StaleSnapshot */
  unchanged(): void;
}

export function createFileVerifier(
  options: Pick<CheckedFileOptions, 'parquetDir' | 'now' | 'report'> & {
    /** Waits this many milliseconds; for scrubbing. */
    readonly sleep: (ms: number) => Promise<void>;
  },
): FileVerifier {
  const { parquetDir, now, sleep, report } = options;
  const known = new Map<string, CheckedFile>();

  const knownOf = (file: string): CheckedFile => {
    const found = known.get(file);
    if (found === undefined) throw new Error(`${file}: expected its checksum to be known, found none`);
    return found;
  };

  return {
    expect(files) {
      for (const { file, captureDay, timeReceived, expected } of files) {
        if (expected === undefined) continue;
        // Since then, the catalog row may have been repaired.
        if (isSame(known.get(file)?.expected, expected)) continue;
        known.set(file, new CheckedFile({ parquetDir, file, captureDay, timeReceived, expected, now, report }));
      }
    },
    reader(signal) {
      const used = new Map<CheckedFile, FileStamp>();
      const verifyAll = async (all: Iterable<CheckedFile>, wanted: 'footer' | 'rows'): Promise<void> => {
        for (const each of all) {
          // Verified a moment ago; changes since then are detected at the end.
          if (each.isRight && each.stamp !== undefined && used.get(each) === each.stamp) continue;
          await each.verify(wanted, signal);
          if (each.stamp !== undefined && !used.has(each)) used.set(each, each.stamp);
        }
      };
      return {
        async footers(files) {
          await verifyAll(
            files.map(({ file }) => knownOf(file)),
            'footer',
          );
        },
        async rows(paths) {
          const files = [...new Set(paths)].map((path) => knownOf(path.slice(path.lastIndexOf('/') + 1)));
          await verifyAll(files, 'rows');
        },
        unchanged() {
          for (const [each, stamp] of used) each.unchangedSince(stamp);
        },
      };
    },
    scrub(ref, bytesPerSecond) {
      this.expect([ref]);
      return knownOf(ref.file).scrub((bytes) => sleep((bytes / bytesPerSecond) * 1_000));
    },
    forget(files) {
      for (const file of files) known.delete(file);
    },
  };
}
