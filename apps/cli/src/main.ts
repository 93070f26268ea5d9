/** The platform command line: one file for each group of commands. */
import addCompletions from '@bomb.sh/tab/commander';
import { Command, CommanderError } from 'commander';
import { adminCommand } from './commands/admin/admin-command.ts';
import { apiKeysCommand } from './commands/api-keys.ts';
import { completionCommand } from './commands/completion.ts';
import { configCommand } from './commands/config.ts';
import { fragmentsCommand } from './commands/fragments.ts';
import { locationsCommand } from './commands/locations.ts';
import { loginCommands } from './commands/login.ts';
import { logsCommand } from './commands/logs.ts';
import { machinesCommand } from './commands/machines.ts';
import { membersCommand } from './commands/members.ts';
import { metadataCommand } from './commands/metadata.ts';
import { organizationsCommand } from './commands/organizations.ts';
import { profilesCommand } from './commands/profiles.ts';
import { queryCommand } from './commands/query.ts';
import { upCommand } from './commands/up.ts';
import { versionCommand } from './commands/version.ts';
import { exitCodes, exitCodesHelp } from './invocation/exit-codes.ts';

const program: Command = new Command('platform')
  .description('Open, self-hosted platform for managing machines.')
  .showHelpAfterError('(add --help for what is expected)')
  .showSuggestionAfterError()
  .addHelpText('after', `\n${exitCodesHelp}`);

program.commandsGroup('Here:').addCommand(upCommand()).addCommand(adminCommand()).addCommand(versionCommand());
program.commandsGroup('Login:');
for (const command of loginCommands()) program.addCommand(command);
program.addCommand(profilesCommand());
program
  .commandsGroup('Fleet:')
  .addCommand(organizationsCommand())
  .addCommand(membersCommand())
  .addCommand(locationsCommand())
  .addCommand(machinesCommand())
  .addCommand(configCommand())
  .addCommand(fragmentsCommand())
  .addCommand(logsCommand())
  .addCommand(metadataCommand())
  .addCommand(apiKeysCommand());
program.commandsGroup('Data:').addCommand(queryCommand());
program
  .commandsGroup('Shell:')
  .addCommand(completionCommand((shell) => program.parseAsync(['complete', shell], { from: 'user' })));

exitWithOwnCodes(program);
addCompletions(program);

try {
  await program.parseAsync();
} catch (caught) {
  if (!(caught instanceof CommanderError)) throw caught;
  // What commander refuses is a wrong use; help and version are not.
  process.exitCode = caught.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
}

function exitWithOwnCodes(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) exitWithOwnCodes(inner);
}
