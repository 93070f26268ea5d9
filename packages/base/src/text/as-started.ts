/** Hints name commands as `platform …`, and are shown with the command that works for the user, such as `node tools/run.js …` in a checkout. */

/** The commands of the first level, except `help`; create-program.test.ts compares them. */
export const firstWords: readonly string[] =
  'up uninstall admin capture ftdc version login logout token whoami profiles organizations members locations machines config fragments packages modules logs triggers deliveries webhooks metadata api-keys billing query data completion'.split(
    ' ',
  );

const hint = new RegExp(String.raw`(?<![\w./-])platform (?=(?:${firstWords.join('|')})(?![\w-]))`, 'g');

/** @param command how the user starts the command line, such as `node tools/run.js`; `commandName` of the command line tells it */
export function asStarted(text: string, command: string): string {
  return text.replaceAll(hint, () => `${command} `);
}
