/** Thrown when a file of the snapshot was merged and removed while this process was starting: a newer snapshot has the merged file. */
export class StaleSnapshot extends Error {}
