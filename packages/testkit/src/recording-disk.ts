/** A disk in memory that records its operations, for `cutImages`, and fails on request. It satisfies the storage port of capture files. */
import { dirname } from 'node:path';
import type { Syscall } from './record-syscalls.ts';

export type DiskStep = 'create' | 'write' | 'sync' | 'read' | 'rename' | 'sync-name' | 'remove';

interface Inode {
  content: Uint8Array;
  /** Undefined: removed. */
  path: string | undefined;
}

export interface RecordedOutput {
  write(bytes: Uint8Array, position: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export class RecordingDisk {
  readonly calls: Syscall[] = [];
  /** Called before each operation; throws to make it fail. A write that fails leaves half of its bytes. */
  fault: (step: DiskStep, path: string) => void = () => {};
  readonly #names = new Map<string, Inode>();

  /** Contents by path, as the program sees them. */
  get files(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#names].map(([path, { content }]) => [path, content]));
  }

  async create(path: string): Promise<RecordedOutput> {
    this.fault('create', path);
    if (this.#names.has(path)) throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' });
    const inode: Inode = { content: new Uint8Array(), path };
    this.#names.set(path, inode);
    this.calls.push({ kind: 'create', path });
    return {
      write: async (bytes, position) => this.#write(inode, bytes, position),
      sync: async () => this.#sync(inode),
      close: async () => {},
    };
  }

  async read(path: string): Promise<Uint8Array> {
    this.fault('read', path);
    const inode = this.#names.get(path);
    if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    return inode.content;
  }

  async rename(from: string, to: string): Promise<void> {
    this.fault('rename', from);
    const inode = this.#names.get(from);
    if (inode !== undefined) {
      const replaced = this.#names.get(to);
      if (replaced !== undefined) replaced.path = undefined;
      this.#names.delete(from);
      this.#names.set(to, inode);
      inode.path = to;
      this.calls.push({ kind: 'rename', path: from, to });
    } else if (!this.#names.has(to)) throw Object.assign(new Error(`ENOENT: ${from}`), { code: 'ENOENT' });
    await this.syncName(to);
  }

  async syncName(path: string): Promise<void> {
    this.fault('sync-name', path);
    this.calls.push({ kind: 'sync', path: dirname(path), startedAt: this.calls.length });
  }

  async remove(path: string): Promise<void> {
    this.fault('remove', path);
    const inode = this.#names.get(path);
    if (inode === undefined) return;
    inode.path = undefined;
    this.#names.delete(path);
    this.calls.push({ kind: 'unlink', path });
  }

  #write(inode: Inode, bytes: Uint8Array, position: number): void {
    let failure: unknown;
    let kept = bytes;
    try {
      this.fault('write', inode.path ?? '');
    } catch (caught) {
      failure = caught;
      kept = bytes.subarray(0, bytes.length >> 1);
    }
    const content = new Uint8Array(Math.max(inode.content.length, position + kept.length));
    content.set(inode.content);
    content.set(kept, position);
    inode.content = content;
    if (inode.path !== undefined)
      this.calls.push({ kind: 'write', path: inode.path, offset: position, bytes: kept.slice() });
    if (failure !== undefined) throw failure;
  }

  #sync(inode: Inode): void {
    const path = inode.path ?? '';
    try {
      this.fault('sync', path);
    } catch (caught) {
      // The kernel may drop pages that it could not write, and report success the next time.
      this.calls.push({ kind: 'failed-sync', path });
      throw caught;
    }
    this.calls.push({ kind: 'sync', path, startedAt: this.calls.length });
  }
}
