/**
 * With `keep`, remembers durably which contents of which files were sent, so that they are not sent again after a restart.
 *
 * `<home>/sent_files.jsonl`: a line for each file, `[path, "<bytes> <modified ns> <inode>"]`; a later line of the same path wins. A line
 * is synced before the file counts as sent. A torn last line is ignored: that file is sent once more, which the cloud recognises (D13).
 * The file is rewritten at the start, without files that no longer exist.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createLimiter, jsonIn, readWhole } from '@platform/base';
import { exists } from '../../directories/disk-storage.ts';
import { writeDurably } from '../../directories/write-durably.ts';
import { type Fingerprint, fingerprintText } from './fingerprint.ts';

export class SentFiles {
  readonly #file: string;
  #known: Promise<Map<string, string>> | undefined;
  readonly #inTurn = createLimiter(1);

  constructor(home: string) {
    this.#file = join(home, 'sent_files.jsonl');
  }

  async has(path: string, fingerprint: Fingerprint): Promise<boolean> {
    return (await this.#load()).get(path) === fingerprintText(fingerprint);
  }

  /** Resolves once it would survive a power cut. */
  async add(path: string, fingerprint: Fingerprint): Promise<void> {
    const known = await this.#load();
    const text = fingerprintText(fingerprint);
    await this.#inTurn(async () => {
      await using handle = await open(this.#file, 'a', 0o600);
      await handle.appendFile(`${JSON.stringify([path, text])}\n`);
      await handle.datasync();
      known.set(path, text);
    });
  }

  #load(): Promise<Map<string, string>> {
    this.#known ??= this.#read().catch((caught) => {
      this.#known = undefined;
      throw caught;
    });
    return this.#known;
  }

  async #read(): Promise<Map<string, string>> {
    const known = new Map<string, string>();
    const lines = await readWhole(this.#file).then(String, (caught: NodeJS.ErrnoException) => {
      if (caught.code === 'ENOENT') return '';
      throw caught;
    });
    for (const line of lines.split('\n')) {
      const entry = jsonIn(line);
      const [path, text]: unknown[] = Array.isArray(entry) ? entry : [];
      if (typeof path === 'string' && typeof text === 'string') known.set(path, text);
    }
    for (const path of known.keys()) if (!(await exists(path))) known.delete(path);
    const kept = [...known].map((entry) => `${JSON.stringify(entry)}\n`).join('');
    if (kept !== lines) await writeDurably(this.#file, kept);
    return known;
  }
}
