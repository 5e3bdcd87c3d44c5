// SPDX-License-Identifier: MIT

// Calls C, which calls Go.
package main

/*
#include <stdlib.h>

int goCompare(int, int);

static int compare(const void *a, const void *b)
{
	return goCompare(*(const int *)a, *(const int *)b);
}

static void sort(int *list, int n)
{
	qsort(list, n, sizeof(*list), compare);
}
*/
import "C"

import "fmt"

//export goCompare
func goCompare(a, b C.int) C.int {
	return a - b
}

func main() {
	list := []C.int{3, 1, 2}
	C.sort(&list[0], 3)
	fmt.Println(list)
}
