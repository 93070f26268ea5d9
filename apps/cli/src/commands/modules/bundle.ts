/** Bundles a program with everything that it imports into one file that Node runs. */
import { dirname } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { errorText, PlatformError } from '@platform/sdk/cloud';
import { sdkEntry } from './link-sdk.ts';

/**
 * Packages installed in the folder take precedence; otherwise `@platform/sdk/module` comes from this command line.
 *
 * @throws invalid_argument with the place of the mistake if the program or one of its imports cannot be read
 */
export async function bundle(main: string, into: string): Promise<void> {
  // Loaded here: no other command needs its native library.
  const { rolldown } = await import('rolldown');
  const sdk = sdkEntry();
  // A checkout runs from source, and only its launcher sets this condition.
  const conditions = sdk.endsWith('.ts') ? ['@platform/source'] : [];
  const unresolved: string[] = [];
  try {
    await using made = await rolldown({
      input: main,
      // Places of mistakes are relative to it.
      cwd: dirname(main),
      platform: 'node',
      resolve: { conditionNames: [...conditions, 'node', 'import', 'default'] },
      onLog(_level, { code, message }) {
        if (code === 'UNRESOLVED_IMPORT') unresolved.push(plain(message).split('\n')[0] ?? '');
      },
      plugins: [
        {
          name: 'sdk',
          resolveId: {
            filter: { id: /^@platform\/sdk\/module$/ },
            async handler(id, importer) {
              return (await this.resolve(id, importer, { skipSelf: true })) ?? { id: sdk };
            },
          },
        },
      ],
    });
    const banner = '// Bundled by "platform modules build".';
    await made.write({ file: into, format: 'esm', codeSplitting: false, banner });
  } catch (caught) {
    throw new PlatformError('invalid_argument', plain(errorText(caught)), caught);
  }
  if (unresolved.length > 0)
    throw new PlatformError(
      'invalid_argument',
      `${main}: expected imports that are installed, found others; install them with npm: ${unresolved.join('; ')}`,
    );
}

/** Texts of the bundler have colours, and a code in brackets. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/^Build failed with \d+ errors?:\s*/, '')
    .replaceAll(/^\[[A-Z_]+\] /gm, '')
    .trim();
}
