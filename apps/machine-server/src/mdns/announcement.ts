/** The multicast DNS records of this server: the names by which public clients look for a machine in their network. Pure. */
import { type DnsRecord, type Question, recordTypes } from './dns-message.ts';

export interface Announcement {
  /** The host name of this computer, without a domain. */
  readonly hostName: string;
  /** The names of the machine, such as `PART.machines.example.com`; without any, it has the name of the computer. */
  readonly machineNames: readonly string[];
  readonly port: number;
}

/** The service type that public clients look for. */
const service = '_rpc._tcp.local';
/** Tells public clients which protocols a machine speaks. */
const protocols = ['grpc'];

/**
 * One announcement for each name, to be sent one by one: some clients read only the first instance of an answer.
 */
export function eachName(announcement: Announcement): Announcement[] {
  const { hostName, machineNames } = announcement;
  return (machineNames.length === 0 ? [hostName] : machineNames).map((name) => ({
    ...announcement,
    machineNames: [name],
  }));
}

/**
 * Each instance has its name with dashes, and with dots: clients look for both. The one with dashes, which is a single label, is first:
 * the Rust library below the Python SDK compares only that one.
 */
function instancesOf({ hostName, machineNames }: Announcement): string[] {
  const names = machineNames.length === 0 ? [hostName] : machineNames;
  return [...new Set(names.flatMap((name) => [name.replaceAll('.', '-'), name]))].map((each) => `${each}.${service}`);
}

export function recordsOf(announcement: Announcement, addresses: readonly string[]): DnsRecord[] {
  const { hostName, machineNames, port } = announcement;
  const host = `${hostName}.local`;
  const named = [...new Set([host, ...machineNames.filter((name) => name.endsWith('.local'))])];
  return [
    ...instancesOf(announcement).flatMap((name): DnsRecord[] => [
      { name: service, type: 'ptr', target: name },
      { name, type: 'srv', target: host, port },
      { name, type: 'txt', texts: protocols },
    ]),
    ...named.flatMap((name) => addresses.map((address): DnsRecord => ({ name, type: 'a', address }))),
  ];
}

/** The records that answer the questions, and those that the client will ask for next. Without answers, the questions are about others. */
export function answersTo(
  questions: readonly Question[],
  records: readonly DnsRecord[],
): { readonly answers: readonly DnsRecord[]; readonly additional: readonly DnsRecord[] } {
  const answers = records.filter((record) =>
    questions.some(
      ({ name, type }) =>
        name === record.name.toLowerCase() && (type === recordTypes.any || type === recordTypes[record.type]),
    ),
  );
  const isUseful = answers.some(({ type }) => type === 'ptr' || type === 'srv');
  const additional = isUseful ? records.filter((record) => record.type !== 'ptr' && !answers.includes(record)) : [];
  return { answers, additional };
}
