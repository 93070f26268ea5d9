/** `platform machines part cp`: copies files from and to the computer of a machine, through the cloud. */
import { basename, posix, resolve } from 'node:path';
import { invalidArgument } from '@platform/base/refusals';
import { type CopiedFile, readFiles, writeFiles } from '@platform/sdk/machine';
import { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { defineCommand } from '../../invocation/define-command.ts';
import { bytesText } from '../../query/amounts.ts';
import { localFiles, requireCopyable } from './copy/local-files.ts';
import { targetOf, type Written, writeLocal } from './copy/write-local.ts';
import { shellOf } from './only-resource.ts';

export function copyCommand(): Command {
  return defineCommand(
    new Command('cp')
      .description(
        'copy files from or to the computer of a machine through the cloud, with their permissions and times. An existing folder gets the copy inside. The machine needs a shell service; only owners may use it',
      )
      .argument('<from>', 'PART:PATH on a machine, or a path on this computer')
      .argument(
        '<to>',
        'the same; one of both is on a machine. Paths there begin in the home of its machine-server’s user',
      )
      .option('-r, --recursive', 'also copy folders, with everything in them')
      .option('--resource <name>', 'name of the shell service (default: the only one)'),
    {
      examples: [
        'platform machines part cp press-7:/var/log/syslog .',
        'platform machines part cp -r models press-7:models',
        'platform machines part cp ./a:b.txt Plant/press-7:',
      ],
      fields: ['files', 'bytes', 'left_out'],
    },
    async (context, flags, fromText = '', toText = '') => {
      const [from, to] = [endOf(fromText), endOf(toText)];
      const part = from.part ?? to.part;
      if (part === undefined || (from.part !== undefined && to.part !== undefined))
        throw invalidArgument(
          `expected PART:PATH as one of <from> and <to>, and a path on this computer as the other; found ${fromText} and ${toText}`,
        );
      const isRecursive = flags['recursive'] === true;
      const isFolder = to.part === undefined ? undefined : await requireCopyable(from.path, isRecursive);
      const { id } = await context.find.part(part);
      using machine = (await context.cloud()).machine(id, { session: false });
      const options = { shell: await shellOf(machine, flags['resource'], 'cp'), signal: context.signal };
      const { files, bytes, leftOut } =
        isFolder === undefined
          ? await download(context, readFiles(machine, from.path, { ...options, isRecursive }), from.path, to.path)
          : await upload(context, from.path, (all, name) =>
              writeFiles(machine, all, { ...options, to: to.path, name, isFolder }),
            );
      context.out.object({ files, bytes, left_out: leftOut });
    },
  );
}

interface End {
  /** Undefined: on this computer. */
  readonly part: string | undefined;
  readonly path: string;
}

/** A path that begins with a dot, a slash or a tilde, or has no colon, is on this computer, as is one with a letter of a drive. */
function endOf(text: string): End {
  const [, part, path = ''] = /^(?![./~]|[A-Za-z]:[\\/])([^:]+):(.*)$/s.exec(text) ?? [];
  return part === undefined ? { part, path: text } : { part, path: path === '' ? '.' : path };
}

interface Copied extends Written {
  readonly leftOut: number;
}

async function download(
  { progress }: Context,
  files: AsyncIterable<CopiedFile>,
  from: string,
  to: string,
): Promise<Copied> {
  const name = posix.basename(from);
  const target = await targetOf(to, ['', '.', '..', '~'].includes(name) ? undefined : name);
  const says = (path: string, bytes: number): void => progress.says(`copying ${path}, ${bytesText(bytes)} received`);
  return { ...(await writeLocal(files, target, says)), leftOut: 0 };
}

async function upload(
  { progress, out }: Context,
  from: string,
  send: (files: AsyncIterable<CopiedFile>, name: string) => Promise<void>,
): Promise<Copied> {
  let [files, bytes, leftOut] = [0, 0, 0];
  const all = localFiles(from, {
    onFile: (path) => progress.says(`copying ${path}, ${bytesText(bytes)} sent`),
    onLeftOut(path, why) {
      leftOut++;
      out.warn(`${path} is left out: ${why}`);
    },
  });
  async function* counted(): AsyncGenerator<CopiedFile> {
    for await (const file of all) {
      if (!file.isFolder) files++;
      yield { ...file, content: measured(file) };
    }
  }
  async function* measured({ path, content }: CopiedFile): AsyncGenerator<Uint8Array> {
    for await (const data of content) {
      yield data;
      bytes += data.length;
      progress.says(`copying ${[from, ...path].join('/')}, ${bytesText(bytes)} sent`);
    }
  }
  await send(counted(), basename(resolve(from)));
  return { files, bytes, leftOut };
}
