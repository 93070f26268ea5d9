/** What a package may take. */

const mebibyte = 1024 * 1024;

/** The archive of one version. Real machine servers give a download 30 minutes. */
export const maxPackageBytes: number = 2048 * mebibyte;
/** Versions and platforms together: `ListPackages` answers all of them in one message. */
export const maxPackagesOfOrganization: number = 2_000;
/** Lists of files and metadata of one version, as JSON. */
export const maxDescriptionBytes: number = 16 * 1024;
/** One message of `CreatePackage`; public clients send pieces of 64 KiB to 4 MiB. */
export const maxMessageBytes: number = 16 * mebibyte;
