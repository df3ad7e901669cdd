// Where HTTP offers the commands of this room.

export const maintenanceAction = (action: string) => ({ path: "/api/maintenance", action });
