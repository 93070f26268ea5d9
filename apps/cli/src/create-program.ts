/** The commands of `platform`, in groups, with help and exit codes. */
import addCompletions from '@bomb.sh/tab/commander';
import { Command } from 'commander';
import { captureCommand } from './capture/capture-command.ts';
import { adminCommand } from './commands/admin/admin-command.ts';
import { apiKeysCommand } from './commands/api-keys.ts';
import { billingCommand } from './commands/billing/billing-command.ts';
import { describeCompletion } from './commands/completion.ts';
import { configCommand } from './commands/config/config-command.ts';
import { deliveriesCommand } from './commands/deliveries/deliveries-command.ts';
import { fragmentsCommand } from './commands/fragments/fragments-command.ts';
import { locationsCommand } from './commands/locations.ts';
import { loginCommands } from './commands/login.ts';
import { logsCommand } from './commands/logs.ts';
import { machinesCommand } from './commands/machines.ts';
import { membersCommand } from './commands/members.ts';
import { metadataCommand } from './commands/metadata.ts';
import { modulesCommand } from './commands/modules/modules-command.ts';
import { organizationsCommand } from './commands/organizations.ts';
import { packagesCommand } from './commands/packages/packages-command.ts';
import { profilesCommand } from './commands/profiles.ts';
import { triggersCommand } from './commands/triggers/triggers-command.ts';
import { uninstallCommand } from './commands/uninstall.ts';
import { upCommand } from './commands/up.ts';
import { versionCommand } from './commands/version.ts';
import { webhooksCommand } from './commands/webhooks/webhooks-command.ts';
import { dataCommand } from './data/data-command.ts';
import { ftdcCommand } from './ftdc/ftdc-command.ts';
import { exitCodesHelp } from './invocation/exit-codes.ts';
import { setHelp } from './invocation/help.ts';
import { queryCommand } from './query/query-command.ts';
import type { Invocation } from './settings.ts';
import { withHelp } from './with-help.ts';

/** Variables that every command reads. */
const environment: Readonly<Record<string, string>> = {
  PLATFORM_HOME: 'directory for everything that is stored on this computer (default: ~/.platform)',
  PLATFORM_URL: 'address of the cloud, like --url',
  PLATFORM_API_KEY_ID: 'id of the API key to use instead of a login; requires PLATFORM_API_KEY',
  PLATFORM_API_KEY: 'the API key',
  PLATFORM_PROFILE: 'login to use, like --profile',
  PLATFORM_ORGANIZATION: 'name or id of the organization, like --organization',
  PLATFORM_OUTPUT: 'json: print JSON, like --json',
  PLATFORM_NODE: 'path of the Node that runs the platform (default: the one that it finds)',
  NO_COLOR: 'any value: no colours',
};

/**
 * @param jsonErrors usage errors are printed as `{"error"}`, like other failures with --json
 * @param invocation default: that of this process
 */
export function createProgram(jsonErrors = false, invocation: Invocation = process): Command {
  const program = new Command('platform')
    .description('Open, self-hosted platform for managing machines.')
    .usage('<command> [options]')
    .addHelpText('after', `\nEnd a command with --help for its options and examples.\n\n${exitCodesHelp}`);
  setHelp(program, {
    examples: [
      'platform up',
      'platform login --url https://cloud.example',
      'platform machines list',
      'platform query sql "SELECT time_received, data FROM readings LIMIT 3"',
      'platform logs press-7 --follow',
    ],
    environment,
  });

  program
    .commandsGroup('This computer:')
    .addCommand(upCommand(invocation))
    .addCommand(uninstallCommand())
    .addCommand(adminCommand())
    .addCommand(captureCommand())
    .addCommand(ftdcCommand())
    .addCommand(versionCommand());
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
    .addCommand(packagesCommand())
    .addCommand(modulesCommand())
    .addCommand(logsCommand())
    .addCommand(triggersCommand())
    .addCommand(deliveriesCommand())
    .addCommand(webhooksCommand())
    .addCommand(metadataCommand())
    .addCommand(apiKeysCommand())
    .addCommand(billingCommand());
  program.commandsGroup('Data:').addCommand(queryCommand()).addCommand(dataCommand());
  program.commandsGroup('Shell:').helpCommand('help [command]', 'show the help for a command');
  addCompletions(program, { completionCommandName: 'completion' });
  describeCompletion(program);
  return withHelp(program, jsonErrors, invocation);
}
