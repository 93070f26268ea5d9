/**
 * A mail server as they run in production: Exim, with its own queue, as a private instance on a loopback port. It writes each mail as a file
 * into a maildir of the recipient's name.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, type MailContent, parseMail } from '@platform/testkit';

const program = '/usr/sbin/exim4';

export interface Exim extends AsyncDisposable {
  /** `smtp://127.0.0.1:<port>`; the same after a restart. */
  readonly url: string;
  /** Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Ends it; its queue stays. Connections are then refused. */
  stop(): Promise<void>;
  /** The mails of a recipient, in no order. @param recipient the local part of the address */
  mailsTo(recipient: string): readonly DeliveredMail[];
}

export interface DeliveredMail extends MailContent {
  /** Wall time at which it was in the mailbox. */
  readonly deliveredMs: number;
}

/**
 * @param folder is created; anybody may write there, because Exim delivers as its own user
 * @param recipients the local parts of the addresses that have a mailbox; mails to others are refused
 */
export async function startExim(folder: string, recipients: readonly string[]): Promise<Exim> {
  if (!existsSync(program))
    throw new Error(`expected ${program}, found none: apt-get install --no-install-recommends exim4-daemon-light`);
  const port = await freePort();
  const mail = join(folder, 'mail');
  for (const each of [folder, mail, join(folder, 'spool'), join(folder, 'log')]) {
    mkdirSync(each, { recursive: true });
    chmodSync(each, 0o777);
  }
  writeFileSync(join(folder, 'boxes'), recipients.map((name) => `${name}: ${name}\n`).join(''), { mode: 0o644 });
  const configuration = join(folder, 'exim.conf');
  writeFileSync(configuration, configurationText(folder, port), { mode: 0o644 });
  let running: { readonly process: ChildProcess; readonly ended: Promise<unknown> } | undefined;
  const exim: Exim = {
    url: `smtp://127.0.0.1:${port}`,
    async start() {
      const errors: string[] = [];
      // In the foreground, with a run of the queue each minute.
      const child = spawn(program, ['-bdf', '-q1m', '-C', configuration], { stdio: ['ignore', 'ignore', 'pipe'] });
      child.stderr.setEncoding('utf8').on('data', (text: string) => void errors.push(text));
      running = { process: child, ended: once(child, 'exit') };
      while (!(await accepts(port))) {
        if (child.exitCode !== null) throw new Error(`${program} ended: ${errors.join('')}${logOf(folder)}`);
        await sleep(50);
      }
    },
    async stop() {
      running?.process.kill('SIGTERM');
      await running?.ended;
      running = undefined;
      while (await accepts(port)) await sleep(50);
    },
    mailsTo(recipient) {
      const box = join(mail, recipient, 'new');
      if (!existsSync(box)) return [];
      return readdirSync(box).map((name) => {
        const file = join(box, name);
        // Maildirs have LF.
        const raw = readFileSync(file, 'utf8').replaceAll('\n', '\r\n');
        return { ...parseMail(raw), deliveredMs: statSync(file).mtimeMs };
      });
    },
    [Symbol.asyncDispose]: () => exim.stop(),
  };
  await exim.start();
  return exim;
}

function configurationText(folder: string, port: number): string {
  return `primary_hostname = mail.example.com
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/spool/exim.pid
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
tls_advertise_hosts =
keep_environment =
deliver_drop_privilege = true
message_size_limit = 50M
smtp_accept_max = 100
acl_smtp_rcpt = accept_all
acl_smtp_data = accept_all

begin acl
accept_all:
  accept

begin routers
all:
  driver = accept
  # What a client says is no file name; what stands in this file is.
  local_parts = lsearch;${folder}/boxes
  transport = maildir

begin transports
maildir:
  driver = appendfile
  directory = ${folder}/mail/$local_part_data
  maildir_format
  create_directory
  directory_mode = 0777
  mode = 0666

begin retry
*  *  F,1h,10s
`;
}

function logOf(folder: string): string {
  const log = join(folder, 'log', 'mainlog');
  return existsSync(log) ? `\n${readFileSync(log, 'utf8').slice(-2_000)}` : '';
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
