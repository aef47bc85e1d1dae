package final class Link {}
