import { errorText, invalidArgument } from '@platform/base';
import { writeDurably } from '../directories/write-durably.ts';

/** Writes the file that an option names. @throws invalid_argument with the option and the file */
export async function writeFileOf(option: string, path: string, text: string): Promise<void> {
  await writeDurably(path, text).catch((caught) => {
    const message = `option ${option}: expected a file that can be written, found ${path}: ${errorText(caught)}`;
    throw invalidArgument(message, caught);
  });
}
